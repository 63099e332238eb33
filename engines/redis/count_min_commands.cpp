#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "command.hpp"
#include "count_min_value.hpp"
#include "create_value.hpp"
#include "open_key.hpp"
#include "step_costs.hpp"

// CMS.*: counts of keys.

namespace tally::redis {
namespace {

constexpr const char* missing = "CMS: key does not exist";
constexpr long long greatest_depth = 1024;  // what a CountMinShape may have

void require_empty(const OpenKey& key) {
  if (!key.is_empty()) throw Refusal("CMS: key already exists");
}

void create(const Call& call, OpenKey& key, std::uint64_t width, std::uint64_t depth) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(width, 4 * depth, &bytes)) throw Refusal("CMS: invalid init arguments");
  if (bytes > call.max_key_bytes()) {
    throw Refusal("CMS: the sketch takes " + std::to_string(bytes) + " bytes; must be at most " +
                  std::to_string(call.max_key_bytes()) + ", the module's option MAX-KEY-BYTES");
  }
  call.require_memory_for(bytes);
  try {
    create_value(call, key, std::make_unique<CountMinValue>(width, static_cast<std::uint32_t>(depth)));
  } catch (const std::invalid_argument&) {
    throw Refusal("CMS: invalid init arguments");
  } catch (const std::bad_alloc&) {
    throw Refusal("CMS: Insufficient memory to create the key");
  }
  call.ok();
}

void init_by_dim(Call& call) {
  OpenKey key(call, KeyAccess::write);
  require_empty(key);
  const auto width = call.integer(2);
  if (!width || *width < 1) throw Refusal("CMS: invalid width");
  const auto depth = call.integer(3);
  if (!depth || *depth < 1 || *depth > greatest_depth) throw Refusal("CMS: invalid depth");
  create(call, key, static_cast<std::uint64_t>(*width), static_cast<std::uint64_t>(*depth));
}

void init_by_prob(Call& call) {
  OpenKey key(call, KeyAccess::write);
  require_empty(key);
  const auto error = call.real(2);
  if (!error || !(*error > 0 && *error < 1)) throw Refusal("CMS: invalid overestimation value");
  const auto probability = call.real(3);
  if (!probability || !(*probability > 0 && *probability < 1)) throw Refusal("CMS: invalid prob value");
  const double width = std::ceil(2 / *error);
  const double depth = std::ceil(std::log(*probability) / std::log(0.5));
  if (!(width < 0x1p62) || depth > greatest_depth) throw Refusal("CMS: invalid init arguments");
  create(call, key, static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(depth));
}

void increase(Call& call) {
  if (call.size() % 2 != 0) throw WrongArity{};
  OpenKey key(call, KeyAccess::write);
  CountMinSketch<>& sketch = key.get<CountMinValue>(missing).sketch();
  std::vector<std::uint64_t> weights;
  weights.reserve(call.size() / 2);
  for (std::size_t i = 3; i < call.size(); i += 2) {
    const auto weight = call.integer(i);
    if (!weight) throw Refusal("CMS: Cannot parse number");
    if (*weight < 0) throw Refusal("CMS: Number cannot be negative");
    weights.push_back(static_cast<std::uint64_t>(*weight));
  }
  call.array(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Hash128 digest = sketch.hasher()(call.text(2 + 2 * i));
    sketch.add(digest, weights[i]);
    const Count count = sketch.count(digest);
    if (count.saturated) {
      call.error("CMS: INCRBY overflow");
    } else {
      call.integer_reply(count.value);
    }
  }
  call.replicate_as("TALLY.CMS.INCRBY");
}

void query(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const CountMinSketch<>& sketch = key.get<CountMinValue>(missing).sketch();
  call.array(call.size() - 2);
  for (std::size_t i = 2; i < call.size(); ++i) call.integer_reply(sketch.count(call.text(i)).value);
}

/// Where the word WEIGHTS is, or the number of arguments.
std::size_t find_weights(const Call& call) {
  std::size_t i = 3;
  while (i < call.size() && !call.is_word(i, "WEIGHTS")) ++i;
  return i;
}

/// A cluster asks the command itself for its keys, where access rules read their specification.
void declare_keys_of_merge(const Call& call) {
  api::key_at(call.context(), 1);
  const long long num_sources = call.integer(2).value_or(0);
  if (num_sources < 1 || num_sources > static_cast<long long>(call.size()) - 3) return;
  for (int i = 0; i < static_cast<int>(num_sources); ++i) api::key_at(call.context(), 3 + i);
}

void merge(Call& call) {
  if (api::is_question_for_keys(call.context()) != 0) return declare_keys_of_merge(call);
  OpenKey key(call, KeyAccess::write);
  CountMinValue& destination = key.get<CountMinValue>(missing);
  const auto num_keys = call.integer(2);
  if (!num_keys) throw Refusal("CMS: invalid numkeys");
  if (*num_keys < 1) throw Refusal("CMS: Number of keys must be positive");
  const auto count = static_cast<std::uint64_t>(*num_keys);
  const std::size_t weights_at = find_weights(call);
  const bool has_weights = weights_at < call.size();
  if (weights_at - 3 != count || (has_weights && call.size() - weights_at - 1 != count)) {
    throw Refusal(has_weights ? "CMS: wrong number of keys/weights" : "CMS: wrong number of keys");
  }
  std::vector<CountMinValue::Weighted> sources;
  sources.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto weight = has_weights ? call.integer(weights_at + 1 + i) : 1;
    if (!weight) throw Refusal("CMS: invalid weight value");
    // The value stays where it is when the key is closed: no other command runs before the end of this one.
    const CountMinValue& source = OpenKey(call, KeyAccess::read, 3 + i).get<CountMinValue>(missing);
    const CountMinShape& shape = source.sketch().shape();
    const CountMinShape& wanted = destination.sketch().shape();
    if (shape.width != wanted.width || shape.depth != wanted.depth) {
      throw Refusal("CMS: width/depth is not equal");
    }
    sources.push_back({&source, *weight});
  }
  call.require_step(step_cost::count_min_merge * (1 + sources.size()) * destination.total_bytes(),
                    "make smaller sketches, or start the server with a larger one");
  call.require_memory_for(destination.total_bytes());  // for the sum, beside the old counters
  if (!destination.replace_by_sum(sources)) throw Refusal("CMS: MERGE overflow");
  call.replicate_as("TALLY.CMS.MERGE");
  call.ok();
}

void info(Call& call) {
  const OpenKey key(call, KeyAccess::read);
  const CountMinSketch<>& sketch = key.get<CountMinValue>(missing).sketch();
  call.map(3);
  call.entry("width", sketch.shape().width);
  call.entry("depth", sketch.shape().depth);
  call.entry("count", sketch.total_count());
}

constexpr std::array commands{
    Command{"CMS.INITBYDIM", entry<init_by_dim, 4>, "write deny-oom", KeyUse::insert, "key width depth",
            "Make a sketch of this size: OK", time_of_structure},
    Command{"CMS.INITBYPROB", entry<init_by_prob, 4>, "write deny-oom", KeyUse::insert,
            "key error probability",
            "Make a sketch of width 2/error and depth log2(1/probability), both rounded up: OK",
            time_of_structure},
    Command{"CMS.INCRBY", entry<increase, 4, any_number>, "write deny-oom", KeyUse::read_and_update,
            "key (item increment) ...", "Increase counts: the count of every item after its increment",
            time_per_item},
    Command{"CMS.QUERY", entry<query, 3, any_number>, "readonly", KeyUse::read, "key item ...",
            "Show the count of every item", time_per_item},
    Command{"CMS.MERGE", entry<merge, 4, any_number>, "write deny-oom getkeys-api", KeyUse::merge_counted,
            "destination numkeys source ... [WEIGHTS weight ...]",
            "Make the destination the weighted sum of the sources: OK",
            "O(N * S) where N is the number of sources and S the size of a sketch"},
    Command{"CMS.INFO", entry<info, 2>, "readonly", KeyUse::read, "key",
            "Show the width, the depth, and the sum of all increments", constant_time}};

}  // namespace

std::span<const Command> count_min_commands() noexcept { return commands; }

}  // namespace tally::redis
