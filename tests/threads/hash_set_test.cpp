#include "tally/sets/hash_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "tally/hashing/key_hasher.hpp"

namespace tally {
namespace {

TEST(HashSetInThreads, TwoOfThemFillAHalfOfTheShardsEach) {
  constexpr std::uint64_t num_keys = 40'000;  // the shards grow several times
  const KeyHasher hasher(1);
  HashSet set;
  std::array<std::uint64_t, 2> num_new{};
  const auto fill = [&](std::uint64_t half) {
    std::vector<Hash128> own;
    for (std::uint64_t i = 0; i < 2 * num_keys; ++i) {
      const Hash128 digest = hasher(i % num_keys);  // each twice
      if ((set.index_of_shard(digest) >= set.shards().size() / 2) == (half == 1)) own.push_back(digest);
    }
    std::vector<std::uint32_t> indices(1000);
    for (std::span<const Hash128> rest = own; !rest.empty();) {
      const auto batch = rest.first(std::min(rest.size(), indices.size()));
      const std::size_t num_absent = set.find_absent(batch, indices);
      for (std::size_t i = 0; i < num_absent; ++i)
        num_new[half] += set.insert(batch[indices[i]]) == HashSet::Outcome::inserted;
      rest = rest.subspan(batch.size());
    }
  };
  {
    const std::jthread lower([&] { fill(0); });
    const std::jthread upper([&] { fill(1); });
  }
  EXPECT_EQ(num_new[0] + num_new[1], num_keys);
  EXPECT_EQ(set.size(), num_keys);
  for (std::uint64_t key = 0; key < num_keys; ++key) EXPECT_TRUE(set.contains(hasher(key))) << key;
}

}  // namespace
}  // namespace tally
