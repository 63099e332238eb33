#include "store/session.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tally/hashing/shard.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

// So that masters that come later can take over some.
constexpr std::uint32_t shards_per_master = 4;
constexpr double good_imbalance = 1.25;

/// How many times the mean the most shards of any master are.
double imbalance(const redis_client::SlotMap& slots, std::uint32_t num_shards) {
  std::vector<std::uint32_t> counts(slots.masters().size());
  for (std::uint32_t shard = 0; shard < num_shards; ++shard) {
    const redis_client::Address* const owner = slots.find(redis_client::hash_slot(std::to_string(shard)));
    const auto found = owner == nullptr ? slots.masters().end() : std::ranges::find(slots.masters(), *owner);
    if (found != slots.masters().end()) ++counts[static_cast<std::size_t>(found - slots.masters().begin())];
  }
  const double mean = static_cast<double>(num_shards) / static_cast<double>(counts.size());
  return static_cast<double>(*std::ranges::max_element(counts)) / mean;
}

}  // namespace

StoreSession::StoreSession(const StoreOptions& options, bool quiet)
    : name_(store_address(options).name), cluster_(cluster_options(options, quiet)) {
  if (cluster_.slots().least_replicas() < options.num_replicas && !cluster_.slots().is_single()) {
    remark(
        false,
        fmt::format("--wait: a master has {} replicas now, fewer than {}; until it has more, nothing counts",
                    cluster_.slots().least_replicas(), options.num_replicas));
  }
}

void StoreSession::require_kind(const std::string& kind) const {
  if (store_->description().kind == kind) return;
  throw std::runtime_error(fmt::format(
      "--store: '{}' was made by another command: it is of the kind '{}', not '{}'; give another name", name_,
      store_->description().kind, kind));
}

const redis_client::Store& StoreSession::open(const std::string& kind) {
  store_ = redis_client::Store::open(cluster_, name_);
  if (!store_) {
    throw std::runtime_error(fmt::format(
        "--store: there is no store '{}'; make one with 'tally build --store', or give another name", name_));
  }
  require_kind(kind);
  return *store_;
}

const redis_client::Store& StoreSession::open_or_make(
    const std::string& kind, const StoreWords& given,
    const std::function<redis_client::StoreDescription()>& plan, bool must_be_new) {
  store_ = redis_client::Store::open(cluster_, name_);
  const bool is_new = !store_;
  if (!is_new && must_be_new) {
    throw std::runtime_error(
        fmt::format("--store: '{}' exists; add to it with 'tally add --store', or give another name", name_));
  }
  if (is_new) store_ = redis_client::Store::make(cluster_, name_, plan());
  require_kind(kind);
  for (const auto& [option, value] : given) {
    const auto found = store_->description().options.find(option);
    const std::string own = found == store_->description().options.end() ? "not given" : found->second;
    if (own == value) continue;
    throw std::runtime_error(fmt::format(
        "--store: '{}' was made with {} {}, but now it is {}; give the same value, or another name", name_,
        option, own, value));
  }
  return *store_;
}

SharePlan StoreSession::plan(std::uint64_t num_keys, const StoreOptions& options,
                             const std::function<std::uint64_t(std::uint64_t num_keys)>& bytes_of) const {
  ShareRequirements wanted{.num_keys = num_keys,
                           .max_bytes_per_share = most_bytes_of_shard,
                           .num_shares = options.num_shards.value_or(0),
                           .multiple_of = options.num_shards ? 1 : shards_multiple()};
  wanted.num_shares = balanced(plan_shares(wanted, bytes_of).num_shares, options);
  wanted.multiple_of = 1;
  return plan_shares(wanted, bytes_of);
}

std::uint32_t StoreSession::shards_multiple() const {
  return cluster_.slots().is_single() ? 1 : static_cast<std::uint32_t>(cluster_.slots().masters().size());
}

std::uint32_t StoreSession::balanced(std::uint32_t least, const StoreOptions& options) const {
  if (options.num_shards) return *options.num_shards;
  if (cluster_.slots().is_single()) return least;
  const std::uint32_t step = shards_multiple();
  least = std::max(least, shards_per_master * step);
  least = (least + step - 1) / step * step;
  std::uint32_t best = least;
  for (std::uint32_t number = least; number <= std::min(4 * least, max_num_shards); number += step) {
    if (imbalance(cluster_.slots(), best) <= good_imbalance) break;
    if (imbalance(cluster_.slots(), number) < imbalance(cluster_.slots(), best)) best = number;
  }
  return best;
}

}  // namespace tally::cli
