#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "expect_refused.hpp"
#include "file_bytes.hpp"
#include "random.hpp"
#include "sample_filters.hpp"
#include "tally/serialization.hpp"

namespace tally {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::describe;
using test::filled;
using test::read_bytes;
using test::repair_checksums;
using test::sample_keys;
using test::sample_shapes;
using test::set_field;
using test::write_bytes;

const FilterShape bits_shape{BloomShape{1013, 5}};
const FilterShape counters_shape{CountingBloomShape{307, 4, 4, 5}};

/// A directory of its own for every test, gone at its end.
class FilterFiles : public ::testing::Test {
 protected:
  FilterFiles() {
    std::string name = (fs::temp_directory_path() / "tally-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = name;
    path_ = directory_ / "filter.tally";
  }
  ~FilterFiles() override { fs::remove_all(directory_); }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory_))
      found.push_back(entry.path().filename().string());
    std::ranges::sort(found);
    return found;
  }

  /// `act` must throw a std::system_error of this code that names the path.
  template <class Act>
  void expect_system_error(Act act, std::errc code, const fs::path& path) {
    try {
      act();
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::make_error_condition(code)) << error.what();
      EXPECT_THAT(error.what(), ::testing::HasSubstr(path.string()));
      return;
    }
    ADD_FAILURE() << "nothing was thrown for " << path;
  }

  fs::path directory_;
  fs::path path_;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

TEST_F(FilterFiles, HoldTheBytesOfSerializeForEveryKindSchemeAndWidth) {
  for (const FilterShape& shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    const AnyFilter filter = filled(shape);
    save(filter, path_, Overwrite::replace);
    const Bytes bytes = serialize(filter);
    EXPECT_EQ(read_bytes(path_), bytes);
    EXPECT_EQ(serialize(load(path_)), bytes);
  }
  EXPECT_THAT(names(), ElementsAre("filter.tally"));
}

TEST_F(FilterFiles, MappedAnswerAsLoaded) {
  for (const FilterShape& shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    save(filled(shape), path_, Overwrite::replace);
    const AnyFilter loaded = load(path_);
    for (const VerifyBody verify : {VerifyBody::no, VerifyBody::yes}) {
      const MappedFilter mapped = MappedFilter::open(path_, {}, verify);
      EXPECT_EQ(serialize(mapped.filter()), serialize(loaded));
      const std::vector<Hash128> keys = sample_keys(loaded.hasher(), 100);
      test::Flags here(keys.size()), there(keys.size());
      loaded.may_contain_batch(keys, here.span());
      mapped.filter().may_contain_batch(keys, there.span());
      EXPECT_TRUE(std::ranges::equal(here.span(), there.span()));
      EXPECT_EQ(mapped.filter().statistics().num_nonzero, loaded.statistics().num_nonzero);
    }
  }
}

TEST_F(FilterFiles, ACopyOfAMappedFilterCanBeWrittenToAndOutlivesIt) {
  save(filled(counters_shape), path_);
  const Bytes bytes = read_bytes(path_);
  std::optional<MappedFilter> mapped = MappedFilter::open(path_);
  AnyFilter copy = mapped->filter();
  test::insert_all(copy, sample_keys(42, 60));
  EXPECT_EQ(serialize(mapped->filter()), bytes);
  EXPECT_EQ(read_bytes(path_), bytes);
  const Bytes after = serialize(copy);
  mapped.reset();
  fs::remove(path_);
  EXPECT_EQ(serialize(copy), after);
  EXPECT_NE(after, bytes);
}

TEST_F(FilterFiles, AMappedFilterLivesOnWhenItsFileIsReplacedOrRemoved) {
  save(filled(counters_shape), path_);
  const Bytes bytes = read_bytes(path_);
  const MappedFilter mapped = MappedFilter::open(path_);
  save(filled(bits_shape), path_, Overwrite::replace);
  fs::remove(path_);
  EXPECT_EQ(serialize(mapped.filter()), bytes);
}

TEST_F(FilterFiles, OpeningReadsTheBodyOnlyIfAsked) {
  Bytes bytes = serialize(filled(bits_shape));
  bytes.back() ^= std::byte{0xff};
  write_bytes(path_, bytes);
  const MappedFilter mapped = MappedFilter::open(path_);
  EXPECT_EQ(mapped.filter().shape(), bits_shape);
  EXPECT_THROW(MappedFilter::open(path_, {}, VerifyBody::yes), FormatError);
  EXPECT_THROW(load(path_), FormatError);
}

/// Everything that can be done with it; the answers are what they are.
void use_all(const AnyFilter& filter, const std::vector<Hash128>& keys) {
  AnyFilter copy = filter;
  test::Flags flags(keys.size());
  copy.may_contain_batch(keys, flags.span());
  (void)copy.insert_batch(keys);
  (void)copy.merge(filter);
  std::vector<Count> counts(keys.size());
  if (copy.can_count()) copy.count_batch(keys, counts);
  std::vector<RemoveResult> removed(keys.size());
  if (copy.can_remove()) copy.remove_batch(keys, removed);
  (void)copy.statistics();
}

TEST_F(FilterFiles, AnUncheckedBodyOfOnesIsSafeToAskAndToCount) {
  for (const FilterShape& shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    Bytes bytes = serialize(AnyFilter(shape, 42));
    std::fill(bytes.begin() + 128, bytes.end(), std::byte{0xff});
    write_bytes(path_, bytes);
    const MappedFilter mapped = MappedFilter::open(path_);
    const std::vector<Hash128> keys = sample_keys(42, 300);
    test::Flags flags(keys.size());
    mapped.filter().may_contain_batch(keys, flags.span());
    if (!mapped.filter().can_fill_up()) {
      EXPECT_TRUE(flags[0] && flags[299]);
    }
    EXPECT_EQ(mapped.filter().statistics().num_nonzero, shape.num_positions());
    use_all(mapped.filter(), keys);
  }
}

TEST_F(FilterFiles, AnUncheckedBodyOfAnythingIsSafeToUse) {
  test::Random random(5);
  for (FilterShape shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    if (auto* dleft = std::get_if<DLeftShape>(&shape.shape)) dleft->grows = true;
    for (int trial = 0; trial < 4; ++trial) {
      Bytes bytes = serialize(AnyFilter(shape, 42));
      for (std::size_t at = 128; at + 8 <= bytes.size(); at += 8) {
        set_field(bytes, at, trial < 2 ? random.next() : random.next() & random.next() & random.next());
      }
      write_bytes(path_, bytes);
      const MappedFilter mapped = MappedFilter::open(path_);
      use_all(mapped.filter(), sample_keys(42, 300));
    }
  }
}

TEST_F(FilterFiles, CutOrLengthenedAreRefusedLoadedAndMapped) {
  const Bytes whole = serialize(filled(bits_shape));
  for (std::size_t length = 0; length < whole.size(); length += 7) {
    write_bytes(path_, std::span(whole).first(length));
    EXPECT_THROW(load(path_), FormatError) << length;
    EXPECT_THROW(MappedFilter::open(path_), FormatError) << length;
  }
  Bytes longer = whole;
  longer.resize(whole.size() + 1);
  write_bytes(path_, longer);
  EXPECT_THROW(load(path_), FormatError);
  EXPECT_THROW(MappedFilter::open(path_), FormatError);
}

TEST_F(FilterFiles, ThatClaimMoreBytesThanTheyHaveAreRefusedAtOnce) {
  Bytes bytes = serialize(filled({CountingBloomShape{307, 4, 64, 5}}));
  set_field<std::uint64_t>(bytes, 24, max_num_positions);
  set_field<std::uint64_t>(bytes, 104, max_num_positions * 8);
  repair_checksums(bytes);
  write_bytes(path_, bytes);
  EXPECT_THROW(load(path_), FormatError);
  EXPECT_THROW(MappedFilter::open(path_), FormatError);
}

TEST_F(FilterFiles, KeyedOnesNeedTheirKeyLoadedAndMapped) {
  const HashKey key = test::sample_hash_key();
  save(filled(bits_shape, KeyHasher::keyed(key)), path_);
  EXPECT_EQ(load(path_, key).hasher(), KeyHasher::keyed(key));
  const MappedFilter mapped = MappedFilter::open(path_, key);
  EXPECT_EQ(mapped.filter().hasher(), KeyHasher::keyed(key));
  test::expect_refused([&] { load(path_); }, {"give that key"});
  test::expect_refused([&] { MappedFilter::open(path_); }, {"give that key"});
}

TEST_F(FilterFiles, AreNotOverwrittenUnlessAskedFor) {
  save(filled(bits_shape), path_);
  const Bytes bytes = read_bytes(path_);
  expect_system_error([&] { save(filled(counters_shape), path_); }, std::errc::file_exists, path_);
  EXPECT_EQ(read_bytes(path_), bytes);
  save(filled(counters_shape), path_, Overwrite::replace);
  EXPECT_EQ(load(path_).shape(), counters_shape);
  fs::create_symlink("nowhere", directory_ / "link");
  expect_system_error([&] { save(filled(bits_shape), directory_ / "link"); }, std::errc::file_exists,
                      directory_ / "link");
  EXPECT_THAT(names(), ElementsAre("filter.tally", "link"));
}

TEST_F(FilterFiles, BytesOfAnythingAreWrittenAllOrNothingToo) {
  const std::string text = "a picture";
  save_bytes(std::as_bytes(std::span(text)), path_);
  EXPECT_EQ(read_bytes(path_).size(), text.size());
  EXPECT_THROW(save_bytes({}, path_), std::system_error);
  EXPECT_EQ(read_bytes(path_).size(), text.size());
  save_bytes({}, path_, Overwrite::replace);
  EXPECT_EQ(read_bytes(path_).size(), 0u);
  EXPECT_THAT(names(), ElementsAre("filter.tally"));
}

TEST_F(FilterFiles, OfTwoThatSaveToANewNameAtOnceOneWins) {
  std::atomic<int> num_saved = 0;
  std::vector<std::thread> savers;
  for (int i = 0; i < 8; ++i) {
    savers.emplace_back([&] {
      try {
        save(filled(bits_shape), path_);
        ++num_saved;
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::make_error_condition(std::errc::file_exists));
      }
    });
  }
  for (std::thread& saver : savers) saver.join();
  EXPECT_EQ(num_saved, 1);
  EXPECT_EQ(load(path_).shape(), bits_shape);
  EXPECT_THAT(names(), ElementsAre("filter.tally"));
}

TEST_F(FilterFiles, KeepTheirModeAndTheLinkThatLeadsToThem) {
  save(filled(bits_shape), path_);
  fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink("filter.tally", directory_ / "link");
  save(filled(counters_shape), directory_ / "link", Overwrite::replace);
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(load(path_).shape(), counters_shape);
  EXPECT_EQ(fs::status(path_).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
}

TEST_F(FilterFiles, WhatADeadWriterLeftIsRemovedAndWhatALivingOneWritesIsNot) {
  const fs::path dead = directory_ / ".tally-1-2.tmp";
  const fs::path living = directory_ / ".tally-1-3.tmp";
  const fs::path other = directory_ / ".tally-notes";
  for (const fs::path& path : {dead, living, other}) write_bytes(path, Bytes(100));
  const int locked = ::open(living.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(locked, LOCK_EX), 0);
  save(filled(bits_shape), path_);
  EXPECT_THAT(names(), UnorderedElementsAre("filter.tally", ".tally-1-3.tmp", ".tally-notes"));
  ::close(locked);
  save(filled(bits_shape), path_, Overwrite::replace);
  EXPECT_THAT(names(), UnorderedElementsAre("filter.tally", ".tally-notes"));
}

TEST_F(FilterFiles, ADamagedOneIsNamed) {
  save(filled(bits_shape), path_);
  Bytes bytes = read_bytes(path_);
  bytes.back() ^= std::byte{1};
  write_bytes(path_, bytes);
  for (const auto& read : std::vector<std::function<void()>>{
           [&] { load(path_); }, [&] { MappedFilter::open(path_, {}, VerifyBody::yes); }}) {
    try {
      read();
      ADD_FAILURE() << "it was read";
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), StartsWith(path_.string() + ": the checksum of the body"));
    }
  }
}

TEST_F(FilterFiles, ThatDoNotExistOrAreDirectoriesAreNamed) {
  expect_system_error([&] { load(path_); }, std::errc::no_such_file_or_directory, path_);
  expect_system_error([&] { MappedFilter::open(path_); }, std::errc::no_such_file_or_directory, path_);
  expect_system_error([&] { load(directory_); }, std::errc::is_a_directory, directory_);
  expect_system_error([&] { save(filled(bits_shape), directory_, Overwrite::replace); },
                      std::errc::is_a_directory, directory_);
  const fs::path in_nowhere = directory_ / "nowhere" / "filter.tally";
  expect_system_error([&] { save(filled(bits_shape), in_nowhere); }, std::errc::no_such_file_or_directory,
                      in_nowhere);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(FilterFiles, AFullDeviceIsAnErrorAndStaysADevice) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  // Never with Overwrite::replace: a save that renames would replace the machine's device.
  expect_system_error([&] { save(filled(bits_shape), "/dev/full"); }, std::errc::no_space_on_device,
                      "/dev/full");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

/// While it exists, no file can grow beyond that many bytes.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t num_bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {num_bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(FilterFiles, AWriteThatFailsMidwayLeavesTheOldFileAndNothingElse) {
  save(filled(counters_shape), path_);
  const Bytes bytes = read_bytes(path_);
  const AnyFilter large({BloomShape{8'000'000, 5}}, 1);
  for (const rlim_t limit : {0, 100, 128, 500'000}) {
    const FileSizeLimit limited(limit);
    expect_system_error([&] { save(large, path_, Overwrite::replace); }, std::errc::file_too_large, path_);
    expect_system_error([&] { save(large, directory_ / "new"); }, std::errc::file_too_large,
                        directory_ / "new");
  }
  EXPECT_EQ(read_bytes(path_), bytes);
  EXPECT_THAT(names(), ElementsAre("filter.tally"));
}

TEST_F(FilterFiles, GoThroughPipes) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const AnyFilter large({BloomShape{20'000'000, 5}}, 1);
  for (const AnyFilter& filter : {large, filled(counters_shape)}) {
    for (const Overwrite overwrite : {Overwrite::refuse, Overwrite::replace}) {
      std::thread writer([&] { save(filter, path_, overwrite); });
      EXPECT_EQ(serialize(load(path_)), serialize(filter));
      writer.join();
    }
  }
  EXPECT_TRUE(fs::is_fifo(path_));
}

TEST_F(FilterFiles, FromAPipeAreRefusedWhenCutOrLengthened) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const Bytes whole = serialize(filled(counters_shape));
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{127}, std::size_t{128}, whole.size() - 1, whole.size() + 1}) {
    Bytes bytes = whole;
    bytes.resize(length);
    std::thread writer([&] { write_bytes(path_, bytes); });
    EXPECT_THROW(load(path_), FormatError) << length;
    writer.join();
  }
}

}  // namespace
}  // namespace tally
