// The bytes of files of top keys and windows must never change: files of today have to be read for ever.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "file_bytes.hpp"
#include "sample_sketches.hpp"

namespace tally {
namespace {

namespace fs = std::filesystem;

struct Golden {
  std::string name;
  AnySketch sketch;
};

std::vector<Golden> golden_files() {
  const KeyHasher keyed = KeyHasher::keyed(test::sample_hash_key());
  std::vector<Golden> files{
      {"space-saving", test::sample_space_saving(5)},
      {"space-saving-not-full", test::sample_space_saving(100)},
      {"space-saving-empty", SpaceSaving(1, 42)},
      {"space-saving-keyed", test::sample_space_saving(5, keyed)},
      {"top-keys-not-full", test::sample_top_keys(100)},
      {"top-keys-keyed", test::sample_top_keys(5, keyed)},
      {"count-min-window-keyed", test::sample_window(keyed)},
  };
  RowSchemes::for_each([&]<class Rows>(std::type_identity<Rows>) {
    const std::string scheme(Rows::name);
    files.push_back({"top-keys-" + scheme, test::sample_top_keys<Rows>(5)});
    files.push_back({"count-min-window-" + scheme,
                     test::sample_window<Rows>(42, Rows::file_id % 2 == 0 ? 8 : 64, CounterUpdate::plain)});
  });
  return files;
}

fs::path directory() { return fs::path(TALLY_TEST_DATA_DIR) / "golden" / "sketches"; }
fs::path path_of(const Golden& golden) { return directory() / (golden.name + ".tally"); }

TEST(GoldenSketches, HoldTheVeryBytesThatTheSketchWritesToday) {
  for (const Golden& golden : golden_files()) {
    SCOPED_TRACE(golden.name);
    if (std::getenv("TALLY_WRITE_GOLDEN") != nullptr && !fs::exists(path_of(golden))) {
      save(golden.sketch, path_of(golden));
    }
    EXPECT_EQ(test::read_bytes(path_of(golden)), serialize(golden.sketch));
  }
}

TEST(GoldenSketches, AreAllOfThoseInTheDirectory) {
  EXPECT_EQ(static_cast<std::size_t>(std::distance(fs::directory_iterator(directory()), {})),
            golden_files().size());
}

TEST(GoldenSketches, AreReadAndGoOnAsTheOriginal) {
  for (Golden& golden : golden_files()) {
    SCOPED_TRACE(golden.name);
    AnySketch loaded = load_sketch(path_of(golden), test::sample_hash_key());
    ASSERT_EQ(loaded.index(), golden.sketch.index());
    for (AnySketch* sketch : {&loaded, &golden.sketch})
      std::visit([](auto& own) { test::add_sample(own, 100, 6); }, *sketch);
    EXPECT_EQ(serialize(loaded), serialize(golden.sketch));
  }
}

std::string digits_of(const std::vector<std::byte>& bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string found;
  for (const std::byte byte : bytes) {
    found += digits[std::to_integer<unsigned>(byte) >> 4];
    found += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return found;
}

TEST(SketchFileFormat, IsByteByByteWhatItsPageSays) {
  // "d" takes the place of "a", whose count of 3 goes to the one counter of the sketch; then "bc" gets 4 more, of which the
  // heap does not know yet. "e" may have come 3 times before, which with its own 1 is not above the 4 of "d": it is counted
  // in the sketch, and the floor is 4.
  TopKeys<IndependentRows> top(2, {1, 1, 1, 16, CounterUpdate::plain}, 0x1122334455667788u);
  top.add("a", 3);
  top.add("bc", 5);
  top.add("d", 4);
  top.add("bc", 4);
  top.add("e", 1);
  EXPECT_EQ(digits_of(serialize(top)),
            "8954414c4c590d0a"  //   0 magic
            "0100"              //   8 format version 1
            "0700"              //  10 kind 7: top-keys
            "0100"              //  12 hash 1: xxh3-128
            "2100"              //  14 scheme 33: independent
            "8877665544332211"  //  16 seed
            "0100000000000000"  //  24 num_positions: width 1
            "01000000"          //  32 num_hashes: depth 1
            "1000"              //  36 counter_bits 16
            "0000"              //  38 update policy
            "0200000000000000"  //  40 capacity 2
            "1100000000000000"  //  48 total_count 17
            "0000000000000000"  //  56
            "0000000000000000"  //  64
            "01000000"          //  72 num_copies 1
            "00000000"          //  76 reserved
            "0400000000000000"  //  80 total of the sketch
            "0400000000000000"  //  88 floor
            "0200000000000000"  //  96 num_candidates 2
            "5000000000000000"  // 104 body length 80
            "f9442c279cc373f0"  // 112 XXH3-64 of the body
            "4a435c29b88b58cc"  // 120 XXH3-64 of bytes 0 to 119
            "0400000000000000"  // 128 the one counter
            "0400000000000000"  // 136 count of "d"
            "0000000000000000"  // 144 its error
            "0400000000000000"  // 152 its count in the heap, of which it is the root
            "0100000000000000"  // 160 length of its key
            "0900000000000000"  // 168 count of "bc"
            "0000000000000000"  // 176
            "0500000000000000"  // 184 its count when the heap last looked
            "0200000000000000"  // 192
            "64"                // 200 the keys, in the order of the records
            "6263"              // 201
            "0000000000");      // 203 up to a multiple of 8
}

}  // namespace
}  // namespace tally
