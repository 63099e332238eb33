#include <btllib/bloom_filter.hpp>
#include <btllib/counting_bloom_filter.hpp>

#include <array>

#include "entries.hpp"
#include "tally/hashing/key_hasher.hpp"
#include "tally/planner.hpp"

namespace tally::bench {
namespace {

/// btllib's filters get k hash values of each key from their caller. Here they are made from the digest by double hashing,
/// within the time that is measured. Their insertions are atomic.
template <class Filter>
class BtllibCalls {
 public:
  BtllibCalls(std::uint64_t num_bytes, std::uint32_t num_hashes)
      : filter_(std::make_unique<Filter>(num_bytes, num_hashes)), num_hashes_(num_hashes) {}

  std::uint64_t num_bytes() const { return filter_->get_bytes(); }
  template <class Key>
  bool insert(const Key& key) {
    filter_->insert(hashes_of(key).data());
    return true;
  }
  template <class Key>
  bool contains(const Key& key) const {
    return filter_->contains(hashes_of(key).data()) != 0;
  }

 private:
  static constexpr std::uint32_t most_hashes = 16;

  template <class Key>
  std::array<std::uint64_t, most_hashes> hashes_of(const Key& key) const {
    const Hash128 digest = KeyHasher(1)(key);
    std::array<std::uint64_t, most_hashes> hashes;
    for (std::uint32_t i = 0; i < num_hashes_; ++i) hashes[i] = digest.low + i * (digest.high | 1);
    return hashes;
  }

  std::unique_ptr<Filter> filter_;
  std::uint32_t num_hashes_;
};

/// As many positions as Tally's Bloom filter has for this rate.
template <class Filter>
Entry planned(const std::string& name, std::uint64_t positions_per_byte) {
  return {name, [=](std::uint64_t num_keys) {
            const BloomShape shape = plan_bloom({.num_keys = num_keys, .false_positive_rate = 0.01});
            return structure_of(BtllibCalls<Filter>(shape.num_bits / positions_per_byte, shape.num_hashes),
                                {});
          }};
}

}  // namespace

std::vector<Entry> btllib_entries() {
  return {planned<btllib::BloomFilter>("btllib bloom 1%", 8),
          planned<btllib::CountingBloomFilter8>("btllib counting 1%", 1)};
}

}  // namespace tally::bench
