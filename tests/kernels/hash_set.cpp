#include "tally/sets/hash_set.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checks.hpp"
#include "random.hpp"

namespace tally::test {

namespace {

void expect_batches_as_contains(const HashSet& set, std::span<const Hash128> digests) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33}, std::size_t{511},
        std::size_t{512}, std::size_t{513}, digests.size()}) {
    const std::span batch = digests.first(size);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < size; ++i) {
      if (!set.contains(batch[i])) expected.push_back(i);
    }
    std::vector<std::uint32_t> absent(size);
    absent.resize(set.find_absent(batch, absent));
    ASSERT_EQ(absent, expected) << size;
  }
}

}  // namespace

void expect_find_absent_as_contains() {
  for (const std::uint64_t max_bytes : {std::uint64_t{128}, std::uint64_t{16} << 10, ~std::uint64_t{0}}) {
    SCOPED_TRACE("a set of at most " + std::to_string(max_bytes) + " bytes");
    HashSet set(max_bytes);
    Random random(6);
    std::vector<Hash128> digests;
    for (std::uint64_t shard = 0; shard < 64; ++shard)
      digests.push_back({0, shard << 58});  // as an empty place is
    while (digests.size() < 3000) {
      const Hash128 digest = random.digest();
      digests.push_back(digest);
      // Such as agree with it in one of the halves that are compared, or differ in one bit of them.
      digests.push_back({digest.low, random.next()});
      digests.push_back({random.next(), digest.high});
      digests.push_back({digest.low, digest.high ^ std::uint64_t{1} << random.below(32)});
      digests.push_back({digest.low ^ std::uint64_t{1} << random.below(64), digest.high});
    }
    // Every other one; a small set is full before that, with digests in their second lines.
    for (std::size_t i = 0; i < digests.size(); i += 2) (void)set.insert(digests[i]);
    ASSERT_NO_FATAL_FAILURE(expect_batches_as_contains(set, digests));
  }
}

}  // namespace tally::test
