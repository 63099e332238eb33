#include "files/sketch_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "cli/flag_words.hpp"
#include "files/shape_json.hpp"
#include "text/bound_text.hpp"
#include "text/key_json.hpp"

namespace tally::cli {
namespace {

/// The common properties of all kinds.
struct Facts {
  KeyHasher hasher = 0;
  std::uint64_t total_count = 0;
  std::uint64_t num_bytes = 0;
  std::uint64_t num_saturated = 0;  ///< counters at their maximum
};

std::uint64_t greatest_error(const CountedKeys& keys) {
  std::uint64_t greatest = 0;
  for (const CountedKeys::Entry& entry : keys.entries()) greatest = std::max(greatest, entry.error);
  return greatest;
}

template <class Rows>
FilterShape shape_of(const CountMinSketch<Rows>& sketch) {
  return {sketch.shape(), Rows::file_id};
}

Facts facts_of(const SpaceSaving& top) { return {top.hasher(), top.total_count(), top.num_bytes(), 0}; }
template <class Rows>
Facts facts_of(const TopKeys<Rows>& top) {
  return {top.hasher(), top.total_count(), top.num_bytes(), top.sketch().num_saturated()};
}
template <class Rows>
Facts facts_of(const CountMinWindow<Rows>& window) {
  return {window.newer().hasher(), window.total_count(), 2 * num_bytes(window.newer().shape()),
          window.newer().num_saturated() + window.older().num_saturated()};
}

/// As for the filter that it consists of; the kind is also that of the filter.
Json shape_json(const SpaceSaving& top) { return {{"kind", ""}, {"capacity", top.capacity()}}; }
template <class Rows>
Json shape_json(const TopKeys<Rows>& top) {
  Json json = shape_to_json(shape_of(top.sketch()));
  json["capacity"] = top.capacity();
  return json;
}
template <class Rows>
Json shape_json(const CountMinWindow<Rows>& window) {
  return shape_to_json(shape_of(window.newer()));
}

template <class Top>
void add_content(Json& json, const Top& top) {
  json["num_candidates"] = top.candidates().size();
  json["not_kept_at_most"] = top.floor();
  json["greatest_error"] = greatest_error(top.candidates());
}
template <class Rows>
void add_content(Json& json, const CountMinWindow<Rows>& window) {
  json["epsilon"] = window.bound().epsilon;
  json["failure_probability"] = window.bound().failure_probability;
  for (const auto& [name, sketch] : {std::pair{"newer", &window.newer()}, {"older", &window.older()}}) {
    const double num_keys = sketch->statistics().estimated_num_keys;
    json[name] = {{"total_count", sketch->total_count()},
                  {"rounding", sketch->rounding()},
                  {"estimated_num_keys", std::isfinite(num_keys) ? Json(num_keys) : Json(nullptr)}};
  }
}

std::vector<std::string> problems_of(const Facts& facts) {
  if (facts.num_saturated == 0) return {};
  return {fmt::format(
      "{} counters are saturated, so their bounds are weaker; make the sketch with wider counters",
      facts.num_saturated)};
}

/// Lines of a name and a value.
class Rows {
 public:
  void add(std::string_view name, const std::string& value) {
    text_ += fmt::format("{:<20} {}\n", name, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

template <class RowScheme>
void add_sketch_rows(Rows& rows, const CountMinSketch<RowScheme>& sketch) {
  const CountMinShape& shape = sketch.shape();
  rows.add("counters", fmt::format("{} rows of {}", shape.num_rows(), shape.width));
  rows.add("counter bits", std::to_string(shape.counter_bits));
  rows.add("update", std::string(name_of(shape.update)));
}

void add_shape_rows(Rows& rows, const SpaceSaving& top) {
  rows.add("candidates", fmt::format("{} of {}", top.candidates().size(), top.capacity()));
}
template <class RowScheme>
void add_shape_rows(Rows& rows, const TopKeys<RowScheme>& top) {
  rows.add("scheme", std::string(RowScheme::name));
  rows.add("candidates", fmt::format("{} of {}", top.candidates().size(), top.capacity()));
  add_sketch_rows(rows, top.sketch());
}
template <class RowScheme>
void add_shape_rows(Rows& rows, const CountMinWindow<RowScheme>& window) {
  rows.add("scheme", std::string(RowScheme::name));
  add_sketch_rows(rows, window.newer());
}

template <class Top>
void add_content_rows(Rows& rows, const Top& top) {
  rows.add("a count is", fmt::format("at most {} too high", greatest_error(top.candidates())));
  rows.add("other keys", fmt::format("have at most {} each", top.floor()));
}
template <class RowScheme>
void add_content_rows(Rows& rows, const CountMinWindow<RowScheme>& window) {
  rows.add("total of newer half", fmt::format("{}", window.newer().total_count()));
  rows.add("total of older half", fmt::format("{}", window.older().total_count()));
  rows.add("a count is", bound_text(window.bound()));
}

}  // namespace

void merge_file(AnySketch& sketch, const std::string& first, const std::string& path,
                const std::optional<HashKey>& key) {
  const AnySketch other = load_sketch(path, key);
  merge_files(first, path, "save both with the same --seed, --error and --memory",
              [&] { merge(sketch, other); });
}

Json sketch_to_json(const AnySketch& sketch) {
  return std::visit(
      [&](const auto& own) {
        const Facts facts = facts_of(own);
        Json json{{"shape", shape_json(own)}};
        json["shape"]["kind"] = name_of(kind_of(sketch));
        json.update(hash_json(facts.hasher));
        json["memory_bytes"] = facts.num_bytes;
        json["total_count"] = facts.total_count;
        add_content(json, own);
        json["num_saturated"] = facts.num_saturated;
        json["problems"] = problems_of(facts);
        return json;
      },
      sketch);
}

std::string sketch_info_text(const AnySketch& sketch) {
  return std::visit(
      [&](const auto& own) {
        const Facts facts = facts_of(own);
        const bool keyed = facts.hasher.id() != HashId::xxh3_128;
        Rows rows;
        rows.add("kind", std::string(name_of(kind_of(sketch))));
        rows.add("hash", fmt::format("{}, {} {}", name_of(facts.hasher.id()), keyed ? "key id" : "seed",
                                     facts.hasher.seed_or_key_id()));
        add_shape_rows(rows, own);
        rows.add("memory", human_bytes(static_cast<double>(facts.num_bytes)));
        rows.add("body", "checksum verified");
        rows.add("total count", fmt::format("{}", facts.total_count));
        add_content_rows(rows, own);
        std::string text = rows.text();
        for (const std::string& problem : problems_of(facts)) text += fmt::format("\nproblem: {}\n", problem);
        return text;
      },
      sketch);
}

std::string sketch_state_text(const AnySketch& sketch) {
  return std::visit(
      [](const auto& own) {
        if constexpr (requires { own.candidates(); }) {
          return fmt::format("{} candidates of {}, total count {}; any other key has at most {}",
                             own.candidates().size(), own.capacity(), own.total_count(), own.floor());
        } else {
          return fmt::format("total count {}; a count is {}", own.total_count(), bound_text(own.bound()));
        }
      },
      sketch);
}

}  // namespace tally::cli
