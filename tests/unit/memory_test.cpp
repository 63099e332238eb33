#include "tally/memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "expect_refused.hpp"
#include "sample_filters.hpp"
#include "tally/serialization.hpp"
#include "tally/sets/hash_set.hpp"

namespace tally {
namespace {

/// A host that counts what it gives, filled with something other than zeros, and can be out of memory.
struct Host {
  static inline std::uint64_t num_bytes = 0;
  static inline std::uint64_t num_blocks = 0;
  static inline std::uint64_t limit = ~std::uint64_t{0};

  static void* allocate(std::size_t size, std::size_t alignment) noexcept {
    EXPECT_EQ(alignment, 64u);
    EXPECT_EQ(size % 64, 0u);
    EXPECT_GT(size, 0u);
    if (size > limit - num_bytes) return nullptr;
    void* memory = std::aligned_alloc(alignment, size);
    std::memset(memory, 0xa5, size);
    num_bytes += size;
    ++num_blocks;
    return memory;
  }
  static void deallocate(void* memory, std::size_t size) noexcept {
    num_bytes -= size;
    --num_blocks;
    std::free(memory);
  }

  Host() {
    limit = ~std::uint64_t{0};
    set_memory_source({allocate, deallocate});
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() { set_memory_source({}); }
};

TEST(MemorySource, GivesTheWordsOfEveryKindAndGetsThemAllBack) {
  for (const FilterShape& shape : test::sample_shapes()) {
    const auto expected = serialize(test::filled(shape));
    const Host host;
    {
      const AnyFilter filter = test::filled(shape);
      EXPECT_EQ(serialize(filter), expected) << test::describe(shape);
      EXPECT_GE(Host::num_bytes, shape.num_bytes());
      // Each of its blocks is rounded up to a line.
      EXPECT_LE(Host::num_bytes, shape.num_bytes() + 2 * 64) << test::describe(shape);
    }
    EXPECT_EQ(Host::num_bytes, 0u);
    EXPECT_EQ(Host::num_blocks, 0u);
  }
}

TEST(MemorySource, GivesLargeBlocksToo) {
  const Host host;
  const AnyFilter filter({BloomShape{std::uint64_t{64} << 20, 5}}, 42);
  EXPECT_EQ(Host::num_bytes, std::uint64_t{8} << 20);
  HashSet set;
  for (std::uint64_t i = 0; i < 100'000; ++i) (void)set.insert(filter.hasher()(i));
  EXPECT_GE(Host::num_bytes, (std::uint64_t{8} << 20) + 100'000 * 64 / 5);
}

TEST(MemorySource, ThatGivesZerosIsNotWrittenOver) {
  const Host host;
  const auto zeros = [](std::size_t size, std::size_t alignment) noexcept {
    void* const memory = Host::allocate(size, alignment);
    std::memset(memory, 0, size);
    return memory;
  };
  const AnyFilter written({BloomShape{1000, 5}}, 42);
  EXPECT_EQ(written.statistics().num_nonzero, 0u);
  // The host lies, and so it shows that nothing was written.
  set_memory_source({Host::allocate, Host::deallocate, true});
  const AnyFilter untouched({BloomShape{1000, 5}}, 42);
  EXPECT_GT(untouched.statistics().num_nonzero, 400u);
  set_memory_source({zeros, Host::deallocate, true});
  EXPECT_EQ(serialize(AnyFilter({BloomShape{1000, 5}}, 42)), serialize(written));
}

TEST(MemorySource, ThatIsEmptyMakesTheStructureThrow) {
  const Host host;
  Host::limit = 10'000;
  EXPECT_THROW(AnyFilter({BloomShape{100'000, 5}}, 42), std::bad_alloc);
  EXPECT_EQ(Host::num_bytes, 0u);
  EXPECT_NO_THROW(AnyFilter({BloomShape{70'000, 5}}, 42));
}

TEST(MemorySource, OfABlockGetsItBackEvenWhenAnotherOneIsSet) {
  AnyFilter from_default = test::filled({BloomShape{1013, 5}});
  AnyFilter from_host = from_default;
  {
    const Host host;
    from_host = from_default;
    EXPECT_GT(Host::num_bytes, 0u);
    from_default = from_host;  // the old words go back to the C library
  }
  from_host = AnyFilter({BloomShape{1013, 5}}, 42);
  from_default = from_host;
  EXPECT_EQ(Host::num_bytes, 0u);
}

TEST(MemorySource, WithOneFunctionIsRefusedAndChangesNothing) {
  const Host host;
  const MemorySource before = memory_source();
  EXPECT_EQ(before, (MemorySource{Host::allocate, Host::deallocate}));
  test::expect_refused([] { set_memory_source({Host::allocate, nullptr}); }, {"deallocate is missing"});
  test::expect_refused([] { set_memory_source({nullptr, Host::deallocate}); }, {"allocate is missing"});
  EXPECT_EQ(memory_source(), before);
}

}  // namespace
}  // namespace tally
