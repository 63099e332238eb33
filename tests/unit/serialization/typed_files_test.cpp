// Files of structures whose type the program knows: saved without an AnyFilter, and loaded or mapped as what they are.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <span>
#include <string>

#include "command_runner.hpp"
#include "file_bytes.hpp"
#include "sample_filters.hpp"
#include "sample_sketches.hpp"
#include "tally/serialization.hpp"

namespace tally {
namespace {

using test::describe;

class TypedFiles : public ::testing::Test {
 protected:
  test::TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "file";
};

/// What `act` says of the type of a file.
template <class Act>
std::string type_error(Act act) {
  try {
    act();
  } catch (const FileKindError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(TypedFiles, AFilterIsSavedAndLoadedAsWhatItIs) {
  for (const FilterShape& shape : test::sample_shapes()) {
    const AnyFilter any = test::filled(shape);
    any.visit([&]<class F>(const F& filter) {
      save(filter, path_, Overwrite::replace);
      EXPECT_EQ(test::read_bytes(path_), serialize(any)) << describe(shape);
      const F loaded = load_as<F>(path_);
      EXPECT_EQ(serialize(loaded), serialize(any)) << describe(shape);
      const Mapped<F> mapped = Mapped<F>::open(path_, {}, VerifyBody::yes);
      EXPECT_EQ(serialize(*mapped), serialize(any)) << describe(shape);
      EXPECT_EQ(mapped->shape(), filter.shape());
    });
  }
}

TEST_F(TypedFiles, ASketchIsSavedAndLoadedAsWhatItIs) {
  const auto goes_through = [&]<class Sketch>(const Sketch& sketch) {
    save(sketch, path_, Overwrite::replace);
    EXPECT_EQ(test::read_bytes(path_), serialize(sketch));
    EXPECT_EQ(serialize(load_as<Sketch>(path_)), serialize(sketch));
  };
  goes_through(test::sample_space_saving(20));
  goes_through(test::sample_top_keys(20));
  goes_through(test::sample_top_keys<TwoHashRows>(20));
  goes_through(test::sample_window());
}

TEST_F(TypedFiles, AMappedFilterOutlivesMoves) {
  BloomFilter<> filter({10'000, 5}, 42);
  filter.insert("apple");
  save(filter, path_);
  Mapped<BloomFilter<>> first = Mapped<BloomFilter<>>::open(path_);
  const Mapped<BloomFilter<>> second = std::move(first);
  EXPECT_TRUE(second->may_contain("apple"));
  EXPECT_FALSE(second->may_contain("pear"));
}

TEST_F(TypedFiles, AnotherKindIsRefusedByBothNames) {
  save(BloomFilter<>({1000, 3}, 1), path_);
  const std::string is_bloom = path_.string() + ": is a bloom file; must be ";
  const auto load_dleft = [&] { (void)load_as<DLeftCountingBloomFilter<>>(path_); };
  EXPECT_EQ(type_error(load_dleft), is_bloom + "dleft (at byte 10)");
  const auto map_dleft = [&] { (void)Mapped<DLeftCountingBloomFilter<>>::open(path_); };
  EXPECT_EQ(type_error(map_dleft), is_bloom + "dleft (at byte 10)");
  const auto load_blocked = [&] { (void)load_as<BlockedBloomFilter>(path_); };
  EXPECT_EQ(type_error(load_blocked), is_bloom + "blocked-bloom (at byte 10)");
  const auto load_top = [&] { (void)load_as<TopKeys<>>(path_); };
  EXPECT_THAT(type_error(load_top), ::testing::StartsWith(is_bloom + "top-keys"));

  save(test::sample_top_keys(20), path_, Overwrite::replace);
  const std::string is_top = path_.string() + ": is a top-keys file; must be ";
  const auto load_bloom = [&] { (void)load_as<BloomFilter<>>(path_); };
  EXPECT_EQ(type_error(load_bloom), is_top + "bloom (at byte 10)");
  const auto load_window = [&] { (void)load_as<CountMinWindow<>>(path_); };
  EXPECT_EQ(type_error(load_window), is_top + "count-min-window (at byte 10)");
}

TEST_F(TypedFiles, AnotherSchemeIsRefusedByBothNames) {
  save(BloomFilter<>({1000, 3}, 1), path_);
  const auto load_triple = [&] { (void)load_as<BloomFilter<TripleScheme>>(path_); };
  EXPECT_EQ(type_error(load_triple), path_.string() +
                                         ": is a bloom file; must be bloom with the scheme 'triple', " +
                                         "not 'congruential' (at byte 10)");
  save(test::sample_top_keys(20), path_, Overwrite::replace);
  const auto load_rows = [&] { (void)load_as<TopKeys<PairwiseRows>>(path_); };
  EXPECT_EQ(type_error(load_rows), path_.string() +
                                       ": is a top-keys file; must be top-keys with the scheme " +
                                       "'pairwise', not 'congruential' (at byte 10)");
}

TEST_F(TypedFiles, AKeyedFileNeedsItsKey) {
  const KeyHasher keyed = KeyHasher::keyed(test::sample_hash_key());
  BloomFilter<> filter({1000, 3}, keyed);
  filter.insert("apple");
  save(filter, path_);
  EXPECT_TRUE(load_as<BloomFilter<>>(path_, test::sample_hash_key()).may_contain("apple"));
  EXPECT_TRUE(Mapped<BloomFilter<>>::open(path_, test::sample_hash_key())->may_contain("apple"));
  EXPECT_THROW((void)load_as<BloomFilter<>>(path_), std::invalid_argument);
}

}  // namespace
}  // namespace tally
