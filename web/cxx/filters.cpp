#include <fmt/format.h>

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "files/shape_json.hpp"
#include "functions.hpp"
#include "open_filters.hpp"

namespace tally::page {
namespace {

constexpr std::uint64_t default_seed = 0x74616c6c79;  // that of the command
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
constexpr std::size_t most_filters = 100;

struct Handles {
  std::map<std::uint64_t, AnyFilter> filters;
  std::uint64_t last = 0;
};

Handles& handles() {
  static Handles all;
  return all;
}

std::map<std::uint64_t, AnyFilter>::iterator find(Arguments& arguments) {
  const auto handle = arguments.required<std::uint64_t>("handle");
  const auto found = handles().filters.find(handle);
  if (found == handles().filters.end())
    arguments.refuse("handle", handle, "that of a filter that was not freed");
  return found;
}

std::string_view name_of(RemoveResult result) {
  return result == RemoveResult::removed     ? "removed"
         : result == RemoveResult::saturated ? "saturated"
                                             : "refused";
}

/// A filter, and the key that a call is about. Asks by batches of one key, which simulations use too: the functions for one
/// key would make the module larger.
class Asked {
 public:
  explicit Asked(const Json& fields) {
    Arguments arguments(fields);
    filter_ = &OpenFilters::get(arguments);
    digest_ = filter_->hasher()(std::string_view(arguments.required<std::string>("key")));
    arguments.refuse_others();
  }

  bool is_contained() const {
    bool result = false;
    filter_->may_contain_batch(key(), std::span(&result, 1));
    return result;
  }

  /// Nothing if the filter does not count.
  std::optional<Count> count() const {
    if (!filter_->can_count()) return std::nullopt;
    Count result;
    filter_->count_batch(key(), std::span(&result, 1));
    return result;
  }

  std::string_view insert() const {
    if (filter_->insert_batch(key()) != 0) return "full";
    const std::optional<Count> now = count();
    return now && now->saturated ? "saturated" : "counted";
  }

  std::string_view remove() const {
    RemoveResult result{};
    filter_->remove_batch(key(), std::span(&result, 1));
    return name_of(result);
  }

  /// What the filter says of the key now.
  Json answer() const {
    const std::optional<Count> now = count();
    return {{"contained", is_contained()},
            {"count", now ? Json(now->value) : Json()},
            {"is_saturated", now && now->saturated},
            {"digest", fmt::format("{:016x}{:016x}", digest_.high, digest_.low)},
            {"places", places_of(*filter_, digest_)}};
  }

 private:
  std::span<const Hash128> key() const { return {&digest_, 1}; }

  AnyFilter* filter_ = nullptr;
  Hash128 digest_;
};

}  // namespace

std::uint64_t OpenFilters::add(AnyFilter filter) {
  Handles& all = handles();
  if (all.filters.size() >= most_filters)
    throw std::invalid_argument("there are 100 filters; free one with filter_free");
  all.filters.emplace(++all.last, std::move(filter));
  return all.last;
}

AnyFilter& OpenFilters::get(Arguments& arguments) { return find(arguments)->second; }

void OpenFilters::free(Arguments& arguments) { handles().filters.erase(find(arguments)); }

Json filter_new(const Json& fields) {
  Arguments arguments(fields);
  const FilterShape shape = arguments.shape();
  std::uint64_t seed = default_seed;
  arguments.read("seed", seed);
  arguments.refuse_others();
  if (shape.num_bytes() > most_bytes)
    throw std::invalid_argument("'shape' takes " + std::to_string(shape.num_bytes()) +
                                " bytes; must take at most 67108864");
  return {{"handle", OpenFilters::add(AnyFilter(shape, seed))},
          {"shape", cli::shape_to_json(shape)},
          {"num_bytes", shape.num_bytes()},
          {"num_positions", shape.num_positions()}};
}

Json filter_insert(const Json& fields) {
  const Asked asked(fields);
  const bool was_contained = asked.is_contained();
  const std::string_view result = asked.insert();
  Json json = {{"result", result}, {"was_contained", was_contained}};
  json.update(asked.answer());
  return json;
}

Json filter_remove(const Json& fields) {
  const Asked asked(fields);
  Json json = {{"result", asked.remove()}};
  json.update(asked.answer());
  return json;
}

Json filter_query(const Json& fields) { return Asked(fields).answer(); }

Json filter_free(const Json& fields) {
  Arguments arguments(fields);
  OpenFilters::free(arguments);
  arguments.refuse_others();
  return nullptr;
}

}  // namespace tally::page
