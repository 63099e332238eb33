#include <stdexcept>
#include <string>
#include <string_view>

#include "tally/detail/parameter_error.hpp"
#include "tally/hashing/shard.hpp"
#include "tally/planner.hpp"
#include "tally/planner/plan_shares.hpp"
#include "tally/theory/largest_share.hpp"

namespace tally {
namespace {

constexpr std::string_view function = "plan_shares";

using BytesOf = std::function<std::uint64_t(std::uint64_t)>;

void check(const ShareRequirements& wanted) {
  detail::require_in_range(function, "num_keys", wanted.num_keys, 1, std::uint64_t{1} << 40);
  if (wanted.max_bytes_per_share == 0)
    detail::throw_parameter_error(function, "max_bytes_per_share", wanted.max_bytes_per_share, "at least 1");
  detail::require_probability(function, "failure_probability", wanted.failure_probability);
  detail::require_in_range(function, "multiple_of", wanted.multiple_of, 1, max_num_shards);
  detail::require_in_range(function, "num_shares", wanted.num_shares, 0, max_num_shards);
  if (wanted.num_shares % wanted.multiple_of != 0) {
    detail::throw_parameter_error(function, "num_shares", wanted.num_shares,
                                  "a multiple of multiple_of, " + std::to_string(wanted.multiple_of));
  }
}

SharePlan plan_with(const ShareRequirements& wanted, const BytesOf& bytes_of, std::uint32_t num_shares) {
  const std::uint64_t keys = theory::largest_share(wanted.num_keys, num_shares, wanted.failure_probability);
  return {num_shares, keys, bytes_of(keys),
          theory::probability_of_larger_share(wanted.num_keys, num_shares, keys)};
}

/// The fewest shares whose structures fit; with the most shares that are possible, if none do.
SharePlan fewest_shares(const ShareRequirements& wanted, const BytesOf& bytes_of) {
  const auto plan_of = [&](std::uint32_t multiples) {
    return plan_with(wanted, bytes_of, multiples * wanted.multiple_of);
  };
  std::uint32_t low = 0;  // does not fit
  std::uint32_t high = max_num_shards / wanted.multiple_of;
  SharePlan best = plan_of(high);
  if (best.bytes_per_share > wanted.max_bytes_per_share) return best;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    const SharePlan tried = plan_of(middle);
    if (tried.bytes_per_share <= wanted.max_bytes_per_share) {
      best = tried;
      high = middle;
    } else {
      low = middle;
    }
  }
  return best;
}

std::string bytes_that_fit(const SharePlan& plan) {
  return "at least " + std::to_string(plan.bytes_per_share) + ": the largest of " +
         std::to_string(plan.num_shares) + " shares has up to " + std::to_string(plan.keys_per_share) +
         " keys";
}

}  // namespace

SharePlan plan_shares(const ShareRequirements& requirements, const BytesOf& bytes_of) {
  check(requirements);
  const std::uint64_t most = requirements.max_bytes_per_share;
  if (requirements.num_shares == 0) {
    const SharePlan plan = fewest_shares(requirements, bytes_of);
    if (plan.bytes_per_share > most)
      detail::throw_parameter_error(function, "max_bytes_per_share", most, bytes_that_fit(plan));
    return plan;
  }
  const SharePlan plan = plan_with(requirements, bytes_of, requirements.num_shares);
  if (plan.bytes_per_share <= most) return plan;
  std::string rule = bytes_that_fit(plan);
  const SharePlan fewest = fewest_shares(requirements, bytes_of);
  if (fewest.bytes_per_share <= most)
    rule += "; or give num_shares " + std::to_string(fewest.num_shares) + ", the fewest that fit";
  detail::throw_parameter_error(function, "max_bytes_per_share", most, rule);
}

SharePlan plan_shares(const ShareRequirements& requirements, FilterKind kind, const Requirements& of_share) {
  const auto refuse = [](std::string_view field) {
    throw std::invalid_argument(std::string(function) + ": " + std::string(field) +
                                " of a share is given; leave it out: it follows from the number of shares");
  };
  if (of_share.num_keys) refuse("num_keys");
  if (of_share.memory_bytes) refuse("memory_bytes");
  if (of_share.histogram) refuse("histogram");
  if (traits_of(kind).takes_weights) {
    detail::throw_parameter_error(function, "kind", name_of(kind),
                                  "that of a filter: the size of a sketch does not depend on its keys");
  }
  Requirements tried = of_share;
  return plan_shares(requirements, [&](std::uint64_t num_keys) {
    tried.num_keys = num_keys;
    return plan_shape(kind, tried).num_bytes();
  });
}

}  // namespace tally
