#pragma once

#include "bloom_chain.hpp"
#include "count_min_value.hpp"
#include "cuckoo_chain.hpp"
#include "filter_value.hpp"
#include "over_value.hpp"
#include "top_k_value.hpp"

namespace tally::redis {

template <class... Values>
struct TypeList {
  /// Calls use.operator()<Value>() for the types in order, until it returns true. Returns whether it did.
  template <class Use>
  static bool any_of(Use use) {
    return (use.template operator()<Values>() || ...);
  }
};

/// The types of values that keys can have.
using ValueTypes = TypeList<BloomChain, CuckooChain, CountMinValue, TopKValue, FilterValue, OverValue>;

}  // namespace tally::redis
