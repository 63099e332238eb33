#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "counted_allocator.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::bench {

/// The 64 bits of a key that a hash table of others stores. Two keys of n share them with a probability of n^2 / 2^65.
template <class Key>
std::uint64_t word_of(const Key& key) {
  return KeyHasher(1)(key).low;
}

/// The calls of a hash table of 64-bit keys in the manner of the standard library, for StructureOf. Its last argument is
/// the allocator.
template <class Table>
class TableCalls {
 public:
  explicit TableCalls(std::uint64_t num_keys) : table_(Allocator(*num_bytes_)) { table_.reserve(num_keys); }

  std::uint64_t num_bytes() const { return *num_bytes_; }
  template <class Key>
  bool insert(const Key& key) {
    if constexpr (requires { typename Table::mapped_type; }) {
      ++table_[word_of(key)];
    } else {
      table_.insert(word_of(key));
    }
    return true;
  }
  template <class Key>
  bool contains(const Key& key) const {
    return table_.find(word_of(key)) != table_.end();
  }
  template <class Key>
  bool remove(const Key& key) {
    if constexpr (requires { typename Table::mapped_type; }) {
      const auto found = table_.find(word_of(key));
      if (found == table_.end()) return false;
      if (--found->second == 0) table_.erase(found);
      return true;
    } else {
      return table_.erase(word_of(key)) == 1;
    }
  }

 private:
  using Allocator = typename Table::allocator_type;
  // On the heap, because this may move. Before the table, which uses it until its end.
  std::unique_ptr<std::uint64_t> num_bytes_ = std::make_unique<std::uint64_t>(0);
  Table table_;
};

}  // namespace tally::bench
