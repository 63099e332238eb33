#include <filesystem>
#include <optional>

#include "describe.hpp"
#include "fail_each.hpp"
#include "support/command_runner.hpp"
#include "support/file_bytes.hpp"
#include "support/sample_sketches.hpp"
#include "tally/serialization/file_pieces.hpp"
#include "tally/serialization/filter_loader.hpp"
#include "tally/serialization/sketch_loader.hpp"

// Files where there is no memory: none is written in part, nothing is left beside it.

namespace tally::test {
namespace {

namespace fs = std::filesystem;

std::vector<FilterShape> one_of_each_kind() {
  return {{BloomShape{50'000, 5}},
          {CountingBloomShape{5000, 4}},
          {ThresholdShape{5000, 4, 3, CounterUpdate::plain}},
          {sample_dleft_shapes()[0], RotationBuckets::file_id},
          {CountMinShape{1009, 3, 1, 32, CounterUpdate::plain}, DefaultRows::file_id}};
}

/// The names and bytes of a directory's files.
std::vector<std::pair<std::string, Bytes>> files_in(const fs::path& directory) {
  std::vector<std::pair<std::string, Bytes>> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    files.emplace_back(entry.path().filename(), read_bytes(entry.path()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The bytes of memory that `act` asks for.
template <class Act>
std::uint64_t bytes_asked_for(Act act) {
  const FailingAllocation none(~std::uint64_t{0});
  act();
  return FailingAllocation::num_bytes();
}

TEST(Allocation, AFileIsSavedWithoutACopyAndLoadedIntoOne) {
  constexpr std::uint64_t little = 100'000;
  const TemporaryDirectory temporary;
  const fs::path path = temporary / "file";
  const auto goes_through = [&]<class Structure>(const Structure& structure, std::uint64_t memory) {
    EXPECT_LT(bytes_asked_for([&] { save(structure, path, Overwrite::replace); }), little);
    const std::uint64_t loaded = bytes_asked_for([&] { (void)load_as<Structure>(path); });
    EXPECT_GE(loaded, memory);
    EXPECT_LT(loaded, memory + little);
  };
  goes_through(BloomFilter<>({40'000'000, 5}, 1), 5'000'000);
  goes_through(CountMinSketch<>({.width = 500'000, .depth = 2, .counter_bits = 32}, 1), 4'000'000);
  goes_through(DLeftCountingBloomFilter<>({.buckets_per_subtable = 50'000}, 1), 50'000 * 4 * 8 * 2);
  goes_through(TopKeys<>(100, {.width = 500'000, .depth = 2, .counter_bits = 32}, 1), 4'000'000);
  goes_through(CountMinWindow<>({.width = 500'000, .depth = 1, .counter_bits = 32}, 1), 4'000'000);
  BloomFilter<> bloom({40'000'000, 5}, 1);
  save(bloom, path, Overwrite::replace);
  EXPECT_LT(bytes_asked_for([&] { (void)Mapped<BloomFilter<>>::open(path); }), little);
}

void add_in_pieces(FilterLoader& loader, std::span<const std::byte> bytes) {
  constexpr std::size_t piece_bytes = 4096;
  while (loader.num_bytes() < bytes.size()) {
    const auto rest = bytes.subspan(loader.num_bytes());
    loader.add(rest.first(std::min(piece_bytes, rest.size())));
  }
}

TEST(Allocation, PiecesAreSavedWithoutMemoryAndLoadedIntoThatOfTheFilter) {
  constexpr std::uint64_t little = 10'000;
  const std::uint64_t memory = 50'000 * 4 * 8 * 2;
  const AnyFilter filter = filled({DLeftShape{.buckets_per_subtable = 50'000}, RotationBuckets::file_id});
  const Bytes bytes = serialize(filter);
  EXPECT_EQ(bytes_asked_for([&] {
              (void)file_header(filter);
              (void)body_piece(filter, 1000, 1000);
            }),
            0u);
  const std::uint64_t loaded = bytes_asked_for([&] {
    FilterLoader loader(memory + little);
    add_in_pieces(loader, bytes);
    EXPECT_TRUE(loader.is_complete());
    (void)std::move(loader).take();
  });
  EXPECT_GE(loaded, memory);
  EXPECT_LT(loaded, memory + little);
  EXPECT_LT(bytes_asked_for([&] {
              FilterLoader loader(memory);
              add_in_pieces(loader, std::span(bytes).first(127));
            }),
            little);
}

TEST(Allocation, AFileIsSavedWholeOrNotAtAll) {
  const TemporaryDirectory temporary;
  for (const FilterShape& shape : one_of_each_kind()) {
    const AnyFilter filter = filled(shape);
    const AnyFilter other(shape, 1);
    for (const Overwrite overwrite : {Overwrite::refuse, Overwrite::replace}) {
      const fs::path directory = temporary / "files";
      const fs::path path = directory / "filter";
      const auto make = [&] {
        fs::remove_all(directory);
        fs::create_directory(directory);
        if (overwrite == Overwrite::replace) save(other, path);
        return 0;
      };
      const auto describe_it = [&](int) { return files_in(directory); };
      EXPECT_GT(fail_each(
                    "save", make, [&](int) { save(filter, path, overwrite); }, describe_it),
                2u);
      EXPECT_GT(
          fail_each(
              "save_bytes", make, [&](int) { save_bytes(serialize(filter), path, overwrite); }, describe_it),
          2u);
    }
  }
}

std::vector<AnySketch> one_of_each_sketch() {
  return {sample_space_saving(5), sample_top_keys(20), sample_window()};
}

TEST(Allocation, ASketchIsSavedAndLoadedInPiecesWholeOrNotAtAll) {
  const TopKeys<> sketch = sample_top_keys(20);
  const SketchPieces pieces(sketch);
  EXPECT_GT(fail_each(
                "saved in pieces", [] { return std::uint64_t{0}; },
                [&](std::uint64_t& bytes) { bytes = SketchPieces(sketch).num_bytes(); },
                [](std::uint64_t bytes) { return bytes; }),
            1u);
  const auto load = [&](SketchLoader& loader) {
    while (!loader.is_complete()) loader.add(pieces.piece(loader.num_bytes(), 50));
  };
  EXPECT_GT(fail_each(
                "loaded in pieces", [] { return Bytes(); },
                [&](Bytes& bytes) {
                  SketchLoader loader(~std::uint64_t{0});
                  load(loader);
                  bytes = serialize(std::move(loader).take());
                },
                [](const Bytes& bytes) { return bytes; }),
            3u);
  // One load goes on after a failure.
  for (std::uint64_t which = 0, has_failed = 1; has_failed != 0; ++which) {
    SketchLoader loader(~std::uint64_t{0});
    {
      const FailingAllocation failing(which);
      try {
        load(loader);
      } catch (const std::bad_alloc&) {
      }
      has_failed = FailingAllocation::has_failed();
    }
    load(loader);
    EXPECT_TRUE(serialize(std::move(loader).take()) == serialize(sketch)) << which;
  }
  TopKeys<> large(100, {.width = 500'000, .depth = 2, .counter_bits = 32}, 1);
  large.add("a");
  constexpr std::uint64_t little = 20'000;
  const std::uint64_t asked_for = bytes_asked_for([&] {
    const SketchPieces of_large(large);
    SketchLoader loader(of_large.num_bytes());
    while (!loader.is_complete()) loader.add(of_large.piece(loader.num_bytes(), 4096));
    (void)std::move(loader).take();
  });
  EXPECT_LT(asked_for, 4'000'000 + little);
}

TEST(Allocation, ASketchIsSavedWholeOrNotAtAll) {
  const TemporaryDirectory temporary;
  for (const AnySketch& sketch : one_of_each_sketch()) {
    const fs::path directory = temporary / "files";
    const auto make = [&] {
      fs::remove_all(directory);
      fs::create_directory(directory);
      save(one_of_each_sketch()[0], directory / "sketch");
      return 0;
    };
    EXPECT_GT(fail_each(
                  "save", make, [&](int) { save(sketch, directory / "sketch", Overwrite::replace); },
                  [&](int) { return files_in(directory); }),
              2u);
  }
}

TEST(Allocation, ASketchIsOpenedAndMergedWholeOrNotAtAll) {
  const TemporaryDirectory temporary;
  for (const AnySketch& sketch : one_of_each_sketch()) {
    const fs::path path = temporary / name_of(kind_of(sketch));
    save(sketch, path);
    const auto describe_it = [](const auto& loaded) { return loaded ? serialize(*loaded) : Bytes{}; };
    EXPECT_GT(fail_each(
                  "load_sketch", [] { return std::optional<AnySketch>(); },
                  [&](std::optional<AnySketch>& loaded) { loaded = load_sketch(path); }, describe_it),
              3u);
    EXPECT_GT(fail_each(
                  "load_any", [] { return std::optional<AnySketch>(); },
                  [&](std::optional<AnySketch>& loaded) { loaded = std::get<AnySketch>(load_any(path)); },
                  describe_it),
              3u);
    fail_each(
        "merged", [&] { return sketch; }, [&](AnySketch& own) { merge(own, sketch); },
        [](const AnySketch& own) { return serialize(own); });
  }
}

TEST(Allocation, AFileIsOpenedWholeOrNotAtAll) {
  const TemporaryDirectory temporary;
  for (const FilterShape& shape : one_of_each_kind()) {
    const fs::path path = temporary / name_of(shape.kind());
    save(filled(shape), path);
    const auto describe_it = [](const auto& filter) { return filter ? describe_all(*filter) : Bytes{}; };
    EXPECT_GT(
        fail_each(
            "load", [] { return std::unique_ptr<AnyFilter>(); },
            [&](std::unique_ptr<AnyFilter>& filter) { filter = std::make_unique<AnyFilter>(load(path)); },
            describe_it),
        1u);
    for (const VerifyBody verify : {VerifyBody::no, VerifyBody::yes}) {
      EXPECT_GT(fail_each(
                    "map", [] { return std::optional<MappedFilter>(); },
                    [&](std::optional<MappedFilter>& filter) {
                      filter.emplace(MappedFilter::open(path, {}, verify));
                    },
                    [](const std::optional<MappedFilter>& filter) {
                      return filter ? describe_all(filter->filter()) : Bytes{};
                    }),
                1u);
    }
    const MappedFilter mapped = MappedFilter::open(path);
    fail_each(
        "copied from a map", [] { return std::unique_ptr<AnyFilter>(); },
        [&](std::unique_ptr<AnyFilter>& filter) { filter = std::make_unique<AnyFilter>(mapped.filter()); },
        describe_it);
  }
}

}  // namespace
}  // namespace tally::test
