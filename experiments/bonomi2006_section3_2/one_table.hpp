#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "paper_shape.hpp"
#include "random.hpp"
#include "tally/hashing/multiplier_buckets.hpp"

namespace tally::experiments {

constexpr std::uint32_t num_subtables = 4;
constexpr std::uint64_t num_buckets = 2048;  // of one subtable
constexpr std::uint64_t num_remainders = 1 << 14;

/// Where a key may be: a bucket and a remainder in each subtable.
struct Candidates {
  std::array<std::uint16_t, num_subtables> buckets;
  std::array<std::uint16_t, num_subtables> remainders;
};

/// The paper's first construction, H: U -> [B]^d x [R]: four independent buckets and one remainder.
class OnePhase {
 public:
  static constexpr const char* name = "one phase";
  explicit OnePhase(std::uint64_t) {}
  Candidates operator()(test::Random& random) const {
    Candidates key;
    for (std::uint16_t& bucket : key.buckets) bucket = static_cast<std::uint16_t>(random.below(num_buckets));
    key.remainders.fill(static_cast<std::uint16_t>(random.below(num_remainders)));
    return key;
  }
};

/// Its second: four permutations of one fingerprint.
class TwoPhases {
 public:
  static constexpr const char* name = "two phases";
  explicit TwoPhases(std::uint64_t seed) : scheme_(space_, seed) {}
  Candidates operator()(test::Random& random) const {
    std::array<std::uint64_t, num_subtables> images;
    scheme_.all_images(space_.fingerprint_of(random.digest()), num_subtables, images.data());
    Candidates key;
    for (std::uint32_t j = 0; j < num_subtables; ++j) {
      key.buckets[j] = static_cast<std::uint16_t>(images[j] / num_remainders);
      key.remainders[j] = static_cast<std::uint16_t>(images[j] % num_remainders);
    }
    return key;
  }

 private:
  FingerprintSpace space_ = paper_shape.fingerprint_space();
  MultiplierBuckets scheme_;
};

/// Which of several copies a deletion takes. `own` needs to know where the key was stored, which a filter does not.
enum class Deletion : char { own, leftmost };

/// A d-left table without capacity. An insertion counts up a cell with its remainder in one of its buckets, the leftmost,
/// or else takes a new cell in the least loaded one, ties to the left.
template <class Hash>
class OneTable {
 public:
  OneTable(Deletion deletion, std::uint64_t seed)
      : deletion_(deletion), random_(seed), hash_(random_.next()) {}

  void fill(std::uint64_t num_keys) {
    while (keys_.size() < num_keys) keys_.push_back(insert(hash_(random_)));
  }
  void churn(std::uint64_t num_steps) {
    for (std::uint64_t i = 0; i < num_steps; ++i) {
      Key& key = keys_[random_.below(keys_.size())];
      remove(key);
      key = insert(hash_(random_));
    }
  }

  std::uint64_t num_ambiguous() const { return num_ambiguous_; }  ///< deletions that found several copies
  std::uint64_t num_wrong() const { return num_wrong_; }          ///< deletions that took another key's copy
  /// Keys of the set that are not found.
  std::uint64_t num_lost() const {
    std::uint64_t num_lost = 0;
    for (const Key& key : keys_) {
      bool found = false;
      for (std::uint32_t j = 0; j < num_subtables; ++j) found |= find(key, j) != nullptr;
      num_lost += !found;
    }
    return num_lost;
  }
  /// Copies in the table beyond one for each key of the set that is found.
  std::uint64_t num_left_behind() const {
    std::uint64_t num_copies = 0;
    for (const Bucket& bucket : buckets_) {
      for (std::uint32_t i = 0; i < bucket.size; ++i) num_copies += bucket.cells[i].count;
    }
    return num_copies + num_lost() - keys_.size();
  }

 private:
  struct Key : Candidates {
    std::uint8_t subtable;  // that has its copy
  };
  struct Cell {
    std::uint16_t remainder;
    std::uint16_t count;
  };
  struct Bucket {
    std::array<Cell, 31> cells;
    std::uint32_t size = 0;
  };

  Bucket& bucket_of(const Candidates& key, std::uint32_t j) {
    return buckets_[j * num_buckets + key.buckets[j]];
  }
  const Cell* find(const Candidates& key, std::uint32_t j) const {
    const Bucket& bucket = buckets_[j * num_buckets + key.buckets[j]];
    for (std::uint32_t i = 0; i < bucket.size; ++i) {
      if (bucket.cells[i].remainder == key.remainders[j]) return &bucket.cells[i];
    }
    return nullptr;
  }
  Cell* find(const Candidates& key, std::uint32_t j) {
    return const_cast<Cell*>(std::as_const(*this).find(key, j));
  }

  Key insert(const Candidates& key) {
    std::uint8_t best = 0;
    for (std::uint8_t j = 0; j < num_subtables; ++j) {
      if (Cell* cell = find(key, j)) {
        ++cell->count;
        return {key, j};
      }
      if (bucket_of(key, j).size < bucket_of(key, best).size) best = j;
    }
    Bucket& bucket = bucket_of(key, best);
    if (bucket.size == bucket.cells.size()) throw std::runtime_error("a bucket has more than 31 cells");
    bucket.cells[bucket.size++] = {key.remainders[best], 1};
    return {key, best};
  }

  void remove(const Key& key) {
    std::uint32_t num_found = 0;
    std::uint32_t taken = num_subtables;
    for (std::uint32_t j = 0; j < num_subtables; ++j) {
      if (find(key, j) == nullptr) continue;
      ++num_found;
      if (taken == num_subtables) taken = j;
    }
    if (num_found == 0) return;  // lost before
    num_ambiguous_ += num_found > 1;
    if (deletion_ == Deletion::own) taken = key.subtable;
    num_wrong_ += taken != key.subtable;
    Cell* cell = find(key, taken);
    if (--cell->count > 0) return;
    Bucket& bucket = bucket_of(key, taken);
    *cell = bucket.cells[--bucket.size];
  }

  Deletion deletion_;
  test::Random random_;
  Hash hash_;
  std::vector<Bucket> buckets_ = std::vector<Bucket>(num_subtables * num_buckets);
  std::vector<Key> keys_;
  std::uint64_t num_ambiguous_ = 0;
  std::uint64_t num_wrong_ = 0;
};

}  // namespace tally::experiments
