#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "structure.hpp"
#include "support/rounds.hpp"
#include "tally/filters/outcomes.hpp"

namespace tally::bench {

/// The calls of Tally's filters, which have the same names in all of them, for StructureOf.
template <class Filter>
class FilterCalls {
 public:
  FilterCalls(Filter filter, std::uint64_t num_bytes) : filter_(std::move(filter)), num_bytes_(num_bytes) {}

  std::uint64_t num_bytes() const { return num_bytes_; }

  template <class Key>
  bool insert(const Key& key) {
    if constexpr (requires { filter_.insert(key) == InsertResult::full; }) {
      return filter_.insert(key) != InsertResult::full;
    } else {
      filter_.insert(key);
      return true;
    }
  }
  template <class Key>
  bool contains(const Key& key) const {
    if constexpr (requires { filter_.may_contain(key); }) {
      return filter_.may_contain(key);
    } else {
      return filter_.at_least(key);
    }
  }
  template <class Key>
  bool remove(const Key& key) requires requires(Filter filter) {
    filter.remove(key);
  }
  { return filter_.remove(key) != RemoveResult::refused; }

  template <class Keys>
  std::uint64_t insert_batch(const Keys& keys) {
    if constexpr (requires { filter_.insert_batch(keys); }) {
      filter_.insert_batch(keys);
      return 0;
    } else if constexpr (requires { filter_.insert_batch(keys, std::span<InsertResult>()); }) {
      std::array<InsertResult, batch> results;
      const auto own = std::span(results).first(keys.size());
      filter_.insert_batch(keys, own);
      return static_cast<std::uint64_t>(std::ranges::count(own, InsertResult::full));
    } else {
      std::array<ThresholdState, batch> states;
      filter_.insert_batch(keys, std::span(states).first(keys.size()));
      return 0;
    }
  }
  template <class Keys>
  void contains_batch(const Keys& keys, std::span<bool> results) const {
    if constexpr (requires { filter_.may_contain_batch(keys, results); }) {
      filter_.may_contain_batch(keys, results);
    } else {
      filter_.at_least_batch(keys, results);
    }
  }
  template <class Keys>
  std::uint64_t remove_batch(const Keys& keys) {
    std::array<RemoveResult, batch> results;
    const auto own = std::span(results).first(keys.size());
    filter_.remove_batch(keys, own);
    return static_cast<std::uint64_t>(std::ranges::count(own, RemoveResult::refused));
  }

 private:
  Filter filter_;
  std::uint64_t num_bytes_;
};

}  // namespace tally::bench
