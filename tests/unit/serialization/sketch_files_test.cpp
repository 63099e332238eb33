#include "tally/serialization/sketch_files.hpp"
#include "tally/serialization/sketch_loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "expect_refused.hpp"
#include "file_bytes.hpp"
#include "sample_sketches.hpp"

namespace tally {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::repair_checksums;
using test::sample_sketches;
using test::set_field;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A key's count, its error and so on, of sketches whose answers differ in type.
std::vector<std::uint64_t> answer_of(const auto& sketch, std::string_view key) {
  const auto answer = sketch.estimate(key);
  if constexpr (requires { answer.error; }) return {answer.count, answer.error};
  else return {answer.value, answer.lower, answer.upper, answer.saturated};
}

template <class Sketch>
void expect_same_answers(const Sketch& a, const Sketch& b) {
  ASSERT_EQ(a.total_count(), b.total_count());
  for (std::uint64_t i = 0; i < 70; ++i) {
    ASSERT_EQ(answer_of(a, test::sample_text(i)), answer_of(b, test::sample_text(i))) << i;
  }
  if constexpr (requires { a.floor(); }) {
    ASSERT_EQ(a.floor(), b.floor());
    ASSERT_EQ(a.capacity(), b.capacity());
    ASSERT_EQ(a.top(1000), b.top(1000));
  }
}

/// `bytes` must be refused with a message that holds `reason` and names the byte `offset`.
void expect_bad_sketch(const Bytes& bytes, const std::string& reason, std::uint64_t offset) {
  test::expect_format_error([&] { deserialize_sketch(bytes); }, reason, offset);
}

bool is_refused_sketch(const Bytes& bytes) {
  return test::throws_format_error([&] { deserialize_sketch(bytes); });
}

template <class Integer>
Bytes altered(Bytes bytes, std::size_t at, Integer value) {
  set_field(bytes, at, value);
  repair_checksums(bytes);
  return bytes;
}

// Small, so that every bit can be flipped.
std::vector<AnySketch> sketch_of_each_kind() {
  return {test::sample_space_saving(3), test::sample_space_saving(100, 42, 6), test::sample_top_keys(3),
          test::sample_window()};
}

TEST(SketchFiles, DeserializeIsTheInverseOfSerializeForEveryKindSchemeWidthAndHash) {
  const HashKey key = test::sample_hash_key();
  for (const KeyHasher& hasher : {KeyHasher(42), KeyHasher::keyed(key)}) {
    for (const AnySketch& sketch : sample_sketches(hasher)) {
      const Bytes bytes = serialize(sketch);
      EXPECT_EQ(file_kind(bytes), kind_of(sketch));
      const AnySketch copy = deserialize_sketch(bytes, key);
      ASSERT_EQ(copy.index(), sketch.index());
      EXPECT_EQ(serialize(copy), bytes);
      std::visit([&]<class Sketch>(const Sketch& own) { expect_same_answers(own, std::get<Sketch>(copy)); },
                 sketch);
    }
  }
}

TEST(SketchFiles, WhatWasLoadedDoesFromThenOnWhatTheSavedOneDoes) {
  for (AnySketch& sketch : sample_sketches()) {
    AnySketch copy = deserialize_sketch(serialize(sketch));
    const AnySketch other = copy;
    std::visit(
        [&]<class Sketch>(Sketch& own) {
          Sketch& loaded = std::get<Sketch>(copy);
          for (Sketch* one : {&own, &loaded}) {
            test::add_sample(*one, 150, 9);
            if constexpr (requires { one->advance(); }) one->advance();
            test::add_sample(*one, 50, 10);
            one->merge(std::get<Sketch>(other));
            test::add_sample(*one, 50, 11);
          }
          expect_same_answers(own, loaded);
        },
        sketch);
    EXPECT_EQ(serialize(copy), serialize(sketch));
  }
}

TEST(SketchFiles, KeysOfAnyBytesAndLengthAreKept) {
  for (std::size_t length = 0; length < 40; ++length) {
    SpaceSaving sketch(3, 42);
    const std::string binary(length, '\0');
    sketch.add(binary, 5);
    sketch.add(std::string(100'000, 'x') + binary, 7);
    const Bytes bytes = serialize(sketch);
    EXPECT_EQ(bytes.size() % 8, 0u);
    const auto copy = deserialize_sketch<SpaceSaving>(bytes);
    EXPECT_EQ(copy.estimate(binary).count, 5u);
    EXPECT_EQ(copy.top(3), sketch.top(3));
  }
}

TEST(SketchFiles, SumsThatDoNotFitAreKept) {
  SpaceSaving saving(2, 42);
  auto top = test::sample_top_keys(2);
  for (const std::string_view key : {"a", "b", "c"}) {
    saving.add(key, ~std::uint64_t{0} - 5);
    top.add(key, ~std::uint64_t{0} - 5);
  }
  const auto saving_again = deserialize_sketch<SpaceSaving>(serialize(saving));
  EXPECT_EQ(saving_again.top(2), saving.top(2));
  const auto top_again = deserialize_sketch<TopKeys<>>(serialize(top));
  EXPECT_EQ(top_again.top(2), top.top(2));
}

TEST(SketchFiles, AWindowKeepsWhatHalvingsAdded) {
  using Sketch = CountMinSketch<>;
  Sketch newer(test::sample_sketch_shape<DefaultRows>(32, CounterUpdate::plain), 42);
  newer.add("a", 100);
  Sketch older = newer;
  older.halve();
  older.halve();
  const CountMinWindow<> window(newer, older);
  const auto copy = deserialize_sketch<CountMinWindow<>>(serialize(window));
  EXPECT_EQ(copy.newer().rounding(), 0u);
  EXPECT_EQ(copy.older().rounding(), older.rounding());
  EXPECT_EQ(copy.older().total_count(), 25u);
  newer.halve();
  const TopKeys<> top(newer, CountedKeys(5, "TopKeys"), newer.total_count(), 0);
  test::expect_refused([&] { serialize(top); }, {"TopKeys: rounding of the sketch is 1; must be 0"});
}

TEST(SketchFiles, AKeyedHashNeedsItsKey) {
  const HashKey key = test::sample_hash_key();
  HashKey wrong = key;
  wrong[0] ^= std::byte{1};
  for (const AnySketch& sketch : sample_sketches(KeyHasher::keyed(key))) {
    const Bytes bytes = serialize(sketch);
    test::expect_refused([&] { deserialize_sketch(bytes); }, {"made with the keyed hash", "give that key"});
    test::expect_refused([&] { deserialize_sketch(bytes, wrong); }, {"the given key has the id"});
  }
}

TEST(SketchFiles, AnotherKindThanTheOneAskedForIsSaid) {
  const Bytes filter = serialize(test::filled({BloomShape{1013, 5}}));
  const auto refused = [](auto read, FileKind kind, const std::string& message) {
    try {
      (void)read();
      ADD_FAILURE() << "nothing was refused; expected " << message;
    } catch (const FileKindError& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_EQ(error.what(), "tally file: " + message + " (at byte 10)");
    }
  };
  refused([&] { return deserialize_sketch(filter); }, FileKind::bloom,
          "is a bloom file; must be top-keys, space-saving or count-min-window");
  refused([&] { return deserialize(serialize(test::sample_space_saving(3))); }, FileKind::space_saving,
          "is a space-saving file; must be a filter");
  refused([&] { return read_header(serialize(test::sample_window())); }, FileKind::count_min_window,
          "is a count-min-window file; must be a filter");
  const Bytes top = serialize(test::sample_top_keys<PairwiseRows>(3));
  refused([&] { return deserialize_sketch<SpaceSaving>(top); }, FileKind::top_keys,
          "is a top-keys file; must be space-saving");
  refused([&] { return deserialize_sketch<TopKeys<>>(top); }, FileKind::top_keys,
          "is a top-keys file; must be top-keys with the scheme 'congruential', not 'pairwise'");
  EXPECT_EQ(deserialize_sketch<TopKeys<PairwiseRows>>(top).capacity(), 3u);
}

TEST(SketchFiles, AFileSaysItsKind) {
  EXPECT_EQ(file_kind(serialize(test::filled({BloomShape{1013, 5}}))), FileKind::bloom);
  std::string names;
  for (std::uint16_t i = 1; i <= 9; ++i) {
    const auto kind = static_cast<FileKind>(i);
    names += std::string(name_of(kind)) + (is_filter(kind) ? " " : "* ");
  }
  EXPECT_EQ(names,
            "bloom blocked-bloom counting-bloom threshold dleft count-min top-keys* space-saving* "
            "count-min-window* ");
  EXPECT_THROW(file_kind(Bytes{}), FormatError);
}

TEST(SketchFiles, SketchesOfOneKindSchemeAndShapeMerge) {
  AnySketch top = test::sample_top_keys(3);
  const AnySketch other = test::sample_top_keys(3);
  const std::uint64_t total = std::get<TopKeys<>>(top).total_count();
  merge(top, other);
  EXPECT_EQ(std::get<TopKeys<>>(top).total_count(), 2 * total);
  const auto refused = [&](const AnySketch& sketch, const char* message) {
    test::expect_refused([&] { merge(top, sketch); }, {message});
  };
  refused(test::sample_space_saving(3), "cannot merge: kind is top-keys here and space-saving there");
  refused(test::sample_top_keys<PairwiseRows>(3), "scheme is congruential here and pairwise there");
  refused(test::sample_top_keys(4), "capacity is 3 here and 4 there");
}

TEST(SketchFiles, AFileCutAtAnyByteOrLengthenedIsRefused) {
  for (const AnySketch& sketch : sketch_of_each_kind()) {
    const Bytes whole = serialize(sketch);
    expect_bad_sketch({}, "it is empty", 0);
    for (std::size_t length = 1; length < whole.size(); ++length) {
      expect_bad_sketch({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}, "length is",
                        length);
    }
    Bytes longer = whole;
    longer.resize(whole.size() + 8);
    expect_bad_sketch(longer, "there are bytes after the end", whole.size());
  }
}

TEST(SketchFiles, EveryFlippedBitIsRefused) {
  for (const AnySketch& sketch : sketch_of_each_kind()) {
    Bytes bytes = serialize(sketch);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      EXPECT_TRUE(is_refused_sketch(bytes)) << "bit " << bit;
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
  }
}

TEST(SketchFiles, WithChecksumsRepairedAFlippedBitIsRefusedOrKeptAndThenTheSketchWorks) {
  for (const AnySketch& sketch : sketch_of_each_kind()) {
    const Bytes whole = serialize(sketch);
    std::size_t num_kept = 0;
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      Bytes bytes = whole;
      bytes[bit / 8] ^= std::byte{1} << (bit % 8);
      repair_checksums(bytes);
      if (is_refused_sketch(bytes)) continue;
      ++num_kept;
      AnySketch changed = deserialize_sketch(bytes);
      EXPECT_EQ(serialize(changed), bytes) << "bit " << bit;
      std::visit([](auto& own) { test::add_sample(own, 30, 5); }, changed);
      EXPECT_FALSE(is_refused_sketch(serialize(changed))) << "bit " << bit;
    }
    EXPECT_GT(num_kept, 64u);  // those of the seed at least
  }
}

TEST(SketchFiles, NameTheFieldThatIsOutOfRange) {
  const auto u16 = [](int value) { return static_cast<std::uint16_t>(value); };
  const auto u64 = [](std::uint64_t value) { return value; };
  const Bytes saving = serialize(test::sample_space_saving(3));
  const Bytes top = serialize(test::sample_top_keys(3));
  const Bytes few = serialize(test::sample_top_keys(300));
  const Bytes window = serialize(test::sample_window());
  expect_bad_sketch(altered(top, 10, u16(12)), "kind is 12; must be 1 (bloom), 2 (blocked-bloom), ", 10);
  expect_bad_sketch(altered(top, 10, u16(0)), "10 (compact-dleft) or 11 (blocked-counting-bloom)", 10);
  expect_bad_sketch(altered(top, 12, u16(3)), "hash id is 3; must be 1 (xxh3-128)", 12);
  expect_bad_sketch(altered(top, 14, u16(1)), "scheme id is 1; must be 32 to 35 for the kind top-keys", 14);
  expect_bad_sketch(altered(saving, 14, u16(32)), "byte is 32; must be 0 for the kind space-saving", 14);
  expect_bad_sketch(altered(saving, 24, u64(1)), "byte is 1; must be 0 for the kind space-saving", 24);
  expect_bad_sketch(altered(saving, 36, u16(8)), "byte is 8; must be 0 for the kind space-saving", 36);
  expect_bad_sketch(altered(window, 24, u64(0)), "num_positions is 0", 24);
  expect_bad_sketch(altered(window, 36, u16(4)), "counter_bits is 4; must be 8, 16, 32 or 64 for the kind",
                    36);
  expect_bad_sketch(altered(window, 40, u64(1)), "byte is 1; must be 0 for the kind count-min-window", 40);
  expect_bad_sketch(altered(saving, 40, u64(0)), "capacity is 0; must be 1 to 1073741824", 40);
  expect_bad_sketch(altered(saving, 40, (u64(1) << 30) + 1), "capacity is 1073741825", 40);
  expect_bad_sketch(altered(saving, 40, u64(2)), "num_candidates is 3; must be 0 to 2, the capacity", 96);
  for (const Bytes& bytes : {saving, top, window}) {
    expect_bad_sketch(altered(bytes, 56, u64(1)), "byte is 1; must be 0", 56);
    expect_bad_sketch(altered(bytes, 64, u64(1)), "byte is 1; must be 0", 64);
    expect_bad_sketch(altered(bytes, 104, ~u64(0)), "body length is 18446744073709551615", 104);
    expect_bad_sketch(altered(bytes, 104, u64(8)), "body length is 8; must be", 104);
  }
  expect_bad_sketch(altered(top, 104, test::get_field<std::uint64_t>(top, 104) + 1),
                    "must be a multiple of 8", 104);
  for (const std::size_t at : {72, 80}) {
    expect_bad_sketch(altered(saving, at, u64(1)), "reserved byte is 1; must be 0", at);
  }
  expect_bad_sketch(altered(top, 76, u16(1)), "reserved byte is 1; must be 0", 76);
  expect_bad_sketch(altered(few, 88, u64(1)), "floor is 1; must be 0 with fewer candidates than the capacity",
                    88);
  const std::uint64_t total = test::get_field<std::uint64_t>(saving, 48);
  expect_bad_sketch(altered(saving, 88, total / 3 + 1),
                    "must be 0 to " + std::to_string(total / 3) + ", total_count / capacity", 88);
}

// Three candidates, of which the first is the root of the heap: 32 bytes each, and then their keys.
TEST(SketchFiles, NameTheCandidateThatCannotBe) {
  SpaceSaving sketch(3, 42);
  for (const std::string_view key : {"a", "bb", "ccc", "dddd", "bb", "ccc", "ccc"}) sketch.add(key, 10);
  const Bytes good = serialize(sketch);
  ASSERT_EQ(sketch.floor(), 10u);
  ASSERT_EQ(good.size(), 128u + 3 * 32 + 16);
  const auto at = [](std::size_t candidate, std::size_t word) { return 128 + 32 * candidate + 8 * word; };
  const auto word = [&](std::size_t candidate, std::size_t which) {
    return test::get_field<std::uint64_t>(good, at(candidate, which));
  };
  const auto refused = [&](std::size_t candidate, std::size_t which, std::uint64_t value,
                           const std::string& reason) {
    expect_bad_sketch(altered(good, at(candidate, which), value), reason, at(candidate, 0));
  };
  refused(1, 0, 0, "candidate 1 has a count of 0");
  refused(2, 0, 9, "candidate 2 has a count below the floor");
  refused(0, 1, word(0, 0) + 1, "candidate 0 has an error above its count");
  refused(2, 1, 11, "candidate 2 has an error above the floor");
  refused(1, 2, word(1, 0) + 1, "candidate 1 has a count in the heap above its count");
  refused(1, 2, word(0, 2) - 1, "candidate 1 is below a greater count in the heap");
  refused(1, 3, ~std::uint64_t{0}, "candidate 1 has a key longer than the rest of the body");
  refused(0, 3, 17, "candidate 0 has a key longer");
  expect_bad_sketch(altered(good, at(2, 3), std::uint64_t{1}), "there are bytes after the last key",
                    128 + 96 + 7);
  expect_bad_sketch(altered(good, 128 + 96 + 15, std::uint8_t{1}), "a byte after the last key is not 0",
                    128 + 96 + 9);
  expect_bad_sketch(altered(good, 48, std::uint64_t{69}),
                    "the counts add up to more than 69, the total count", 128);
  EXPECT_FALSE(is_refused_sketch(altered(good, 48, std::uint64_t{71})));
  // Two keys of two bytes in place of one of one and one of three, and then the same twice.
  Bytes twins = serialize([] {
    SpaceSaving two(2, 42);
    two.add("xy");
    two.add("zy");
    return two;
  }());
  twins[128 + 64] = twins[128 + 66];
  repair_checksums(twins);
  expect_bad_sketch(twins, "two candidates have the same key", 128);

  TopKeys<> top = test::sample_top_keys(3);
  const Bytes top_bytes = serialize(top);
  const std::uint64_t body = 128 + num_bytes(top.sketch().shape());
  expect_bad_sketch(altered(top_bytes, 80, top.sketch().total_count() + 1),
                    "the counts of candidates and sketch do not add up to", body);
}

TEST(SketchFiles, AClaimedCapacityTakesNoMemory) {
  const Bytes small = serialize(test::sample_space_saving(100, 42, 6));
  const auto huge = deserialize_sketch<SpaceSaving>(altered(small, 40, CountedKeys::max_capacity));
  EXPECT_EQ(huge.capacity(), CountedKeys::max_capacity);
  EXPECT_LT(huge.num_bytes(), 5000u);
  SpaceSaving twice = huge;
  twice.merge(huge);
  twice.add("more");
  EXPECT_LT(twice.num_bytes(), 10'000u);
  // So do claimed counters and candidates, of which the file would have to be longer.
  const Bytes top = serialize(test::sample_top_keys(3));
  expect_bad_sketch(altered(top, 24, max_num_positions / 3), "body length is", 104);
  Bytes claims = altered(top, 40, CountedKeys::max_capacity);
  set_field(claims, 88, std::uint64_t{0});
  claims = altered(claims, 96, CountedKeys::max_capacity - 1);
  expect_bad_sketch(claims, "body length is", 104);
}

class SketchFilesOnDisk : public ::testing::Test {
 protected:
  SketchFilesOnDisk() {
    std::string pattern = (fs::temp_directory_path() / "tally-sketches-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    path_ = directory_ / "sketch.tally";
  }
  ~SketchFilesOnDisk() override { fs::remove_all(directory_); }

  fs::path directory_;
  fs::path path_;
};

TEST_F(SketchFilesOnDisk, HoldTheBytesOfSerialize) {
  for (const AnySketch& sketch : sample_sketches()) {
    std::visit([&](const auto& own) { save(own, path_, Overwrite::replace); }, sketch);
    EXPECT_EQ(test::read_bytes(path_), serialize(sketch));
    EXPECT_EQ(serialize(load_sketch(path_)), serialize(sketch));
    EXPECT_EQ(serialize(std::get<AnySketch>(load_any(path_))), serialize(sketch));
    EXPECT_EQ(file_kind(path_), kind_of(sketch));
  }
  EXPECT_THROW(save(sample_sketches()[0], path_), std::system_error);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
}

TEST_F(SketchFilesOnDisk, AFilterIsLoadedAsAny) {
  const AnyFilter filter = test::filled({BloomShape{1013, 5}});
  save(filter, path_);
  EXPECT_EQ(serialize(std::get<AnyFilter>(load_any(path_))), serialize(filter));
}

TEST_F(SketchFilesOnDisk, ErrorsNameThePath) {
  const auto message_of = [](auto read) -> std::string {
    try {
      (void)read();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  save(test::sample_top_keys(3), path_);
  const std::string subject = path_.string() + ": ";
  EXPECT_EQ(message_of([&] { return load(path_); }),
            subject + "is a top-keys file; must be a filter (at byte 10)");
  EXPECT_EQ(message_of([&] { return MappedFilter::open(path_); }),
            subject + "is a top-keys file; must be a filter (at byte 10)");
  EXPECT_EQ(message_of([&] { return load_sketch<SpaceSaving>(path_); }),
            subject + "is a top-keys file; must be space-saving (at byte 10)");
  Bytes bytes = test::read_bytes(path_);
  bytes.back() ^= std::byte{1};
  test::write_bytes(path_, bytes);
  for (const auto& read :
       std::vector<std::function<void()>>{[&] { load_sketch(path_); }, [&] { load_any(path_); }}) {
    EXPECT_THAT(message_of([&] { return read(), 0; }), StartsWith(subject + "the checksum of the body"));
  }
  for (std::size_t length = 1; length < bytes.size(); length += 7) {
    test::write_bytes(path_, std::span(bytes).first(length));
    EXPECT_THAT(message_of([&] { return load_sketch(path_); }), StartsWith(subject + "length is "));
    EXPECT_THAT(message_of([&] { return load_any(path_); }), StartsWith(subject + "length is "));
  }
  EXPECT_THAT(message_of([&] { return load_sketch(directory_ / "none"); }),
              HasSubstr((directory_ / "none").string()));
}

TEST_F(SketchFilesOnDisk, GoThroughPipes) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const AnyFilter filter = test::filled({BloomShape{1013, 5}});
  for (const AnySketch& sketch : {AnySketch(test::sample_top_keys(20)), AnySketch(test::sample_window())}) {
    std::thread writer([&] { save(sketch, path_); });
    EXPECT_EQ(serialize(load_sketch(path_)), serialize(sketch));
    writer.join();
    writer = std::thread([&] { save(sketch, path_); });
    EXPECT_EQ(serialize(std::get<AnySketch>(load_any(path_))), serialize(sketch));
    writer.join();
    writer = std::thread([&] { save(filter, path_); });
    EXPECT_EQ(serialize(std::get<AnyFilter>(load_any(path_))), serialize(filter));
    writer.join();
    for (const std::size_t length : {std::size_t{127}, serialize(sketch).size() - 1}) {
      Bytes bytes = serialize(sketch);
      bytes.resize(length);
      writer = std::thread([&] { test::write_bytes(path_, bytes); });
      EXPECT_THROW(load_sketch(path_), FormatError);
      writer.join();
    }
  }
}

TEST(SketchFiles, InPiecesAreTheSameBytesAndAreLoadedFromPiecesOfAnySize) {
  for (const AnySketch& sketch : test::sample_sketches()) {
    const std::vector<std::byte> file = serialize(sketch);
    for (const std::uint64_t piece_bytes : {1u, 7u, 100u, 1u << 20}) {
      std::vector<std::byte> joined;
      std::visit(
          [&](const auto& own) {
            const SketchPieces pieces(own);
            EXPECT_EQ(pieces.num_bytes(), file.size());
            while (joined.size() < pieces.num_bytes()) {
              const auto piece = pieces.piece(joined.size(), piece_bytes);
              joined.insert(joined.end(), piece.begin(), piece.end());
            }
            EXPECT_TRUE(pieces.piece(file.size(), 1).empty());
          },
          sketch);
      EXPECT_TRUE(joined == file);
      SketchLoader loader(file.size());
      std::span<const std::byte> rest(file);
      while (!rest.empty()) {
        EXPECT_FALSE(loader.is_complete());
        const auto piece = rest.first(std::min<std::size_t>(piece_bytes, rest.size()));
        rest = rest.subspan(piece.size());
        if (rest.empty()) {
          std::vector<std::byte> damaged(piece.begin(), piece.end());
          damaged.back() ^= std::byte{1};
          EXPECT_THROW(loader.add(damaged), FormatError);
          damaged.back() ^= std::byte{1};
          damaged.push_back(std::byte{0});
          EXPECT_THROW(loader.add(damaged), FormatError);
        }
        loader.add(piece);
      }
      EXPECT_THROW(loader.add(std::vector<std::byte>(1)), FormatError);
      EXPECT_TRUE(serialize(std::move(loader).take()) == file);
    }
  }
}

TEST(SketchFiles, ALoaderRefusesWhatIsTooLongAndWhatHasNoEnd) {
  const std::vector<std::byte> file = serialize(test::sample_sketches().back());
  SketchLoader small(file.size() - file_header_bytes - 1);
  EXPECT_THROW(small.add(std::span(file).first(file_header_bytes)), FormatError);
  EXPECT_EQ(small.num_bytes(), 0u);
  SketchLoader loader(file.size());
  loader.add(std::span(file).first(file.size() - 1));
  EXPECT_THROW((void)std::move(loader).take(), FormatError);
}

}  // namespace
}  // namespace tally
