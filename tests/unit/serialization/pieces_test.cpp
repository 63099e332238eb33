#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include "expect_refused.hpp"
#include "file_bytes.hpp"
#include "sample_filters.hpp"
#include "tally/serialization.hpp"
#include "tally/serialization/file_pieces.hpp"
#include "tally/serialization/filter_loader.hpp"

namespace tally {
namespace {

using test::Bytes;
using test::describe;
using test::filled;
using test::sample_shapes;

constexpr std::uint64_t no_limit = ~std::uint64_t{0};
constexpr std::size_t piece_sizes[] = {1, 7, 4096, std::size_t{1} << 30};

void add_in_pieces(FilterLoader& loader, std::span<const std::byte> bytes, std::size_t piece_bytes) {
  while (!bytes.empty()) {
    const std::size_t size = std::min(piece_bytes, bytes.size());
    loader.add(bytes.first(size));
    bytes = bytes.subspan(size);
  }
}

AnyFilter loaded(std::span<const std::byte> bytes, std::size_t piece_bytes,
                 const std::optional<HashKey>& key = {}) {
  FilterLoader loader(no_limit, key);
  add_in_pieces(loader, bytes, piece_bytes);
  return std::move(loader).take();
}

/// What an attempt throws, or "".
template <class Attempt>
std::string error_of(Attempt attempt) {
  try {
    attempt();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// A small shape of each kind, whose bytes can all be changed in turn.
std::vector<FilterShape> one_of_each_kind() {
  std::vector<FilterShape> shapes;
  for (const FilterShape& shape : sample_shapes()) {
    const bool is_known =
        std::ranges::any_of(shapes, [&](const FilterShape& known) { return known.kind() == shape.kind(); });
    if (!is_known) shapes.push_back(shape);
  }
  return shapes;
}

TEST(Pieces, OfAFileOfEveryKindAreWhatSerializeReturns) {
  for (const FilterShape& shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    const AnyFilter filter = filled(shape);
    const Bytes bytes = serialize(filter);
    const auto header = file_header(filter);
    for (const std::uint64_t max_bytes : piece_sizes) {
      Bytes joined(header.begin(), header.end());
      for (std::uint64_t offset = 0; offset < shape.num_bytes();) {
        const auto piece = body_piece(filter, offset, max_bytes);
        ASSERT_GE(piece.size(), 1u);
        ASSERT_LE(piece.size(), max_bytes);
        joined.insert(joined.end(), piece.begin(), piece.end());
        offset += piece.size();
      }
      EXPECT_TRUE(joined == bytes) << "pieces of " << max_bytes << " bytes";
    }
    EXPECT_TRUE(body_piece(filter, shape.num_bytes(), 1).empty());
    EXPECT_TRUE(body_piece(filter, no_limit, 1).empty());
    EXPECT_TRUE(body_piece(filter, 0, 0).empty());
  }
}

TEST(Pieces, OfTheBodyGiveTheChecksumOfTheHeader) {
  for (const FilterShape& shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    const AnyFilter filter = filled(shape);
    for (const std::uint64_t max_bytes : piece_sizes) {
      BodyChecksum checksum;
      while (checksum.num_bytes() < shape.num_bytes())
        checksum.add(body_piece(filter, checksum.num_bytes(), max_bytes));
      EXPECT_EQ(file_header(filter, checksum), file_header(filter));
    }
  }
  const AnyFilter filter = filled(FilterShape{BloomShape{1013, 5}});
  BodyChecksum checksum;
  checksum.add(body_piece(filter, 0, 100));
  EXPECT_EQ(
      error_of([&] { (void)file_header(filter, checksum); }),
      "file_header: the checksum is of 100 bytes; must be of 128, the whole body; add all pieces of it");
}

TEST(Pieces, OfAnySizeGiveTheFilterBackForEveryKind) {
  for (const FilterShape& shape : sample_shapes()) {
    SCOPED_TRACE(describe(shape));
    const AnyFilter filter = filled(shape);
    const Bytes bytes = serialize(filter);
    for (const std::size_t piece_bytes : piece_sizes) EXPECT_TRUE(loaded(bytes, piece_bytes) == filter);
  }
}

TEST(Pieces, OfADamagedFileGiveTheErrorOfDeserialize) {
  std::mt19937 random(18);
  std::uint64_t num_body_errors = 0;
  for (const FilterShape& shape : one_of_each_kind()) {
    SCOPED_TRACE(describe(shape));
    const Bytes bytes = serialize(filled(shape));
    for (std::size_t at = 0; at < bytes.size(); at += at < 128 ? 1 : 13) {
      for (const bool has_right_checksums : {false, true}) {
        Bytes damaged = bytes;
        damaged[at] ^= static_cast<std::byte>(1 + random() % 255);
        if (has_right_checksums) test::repair_checksums(damaged);
        const std::string error = error_of([&] { deserialize(damaged); });
        EXPECT_TRUE(has_right_checksums || !error.empty());
        if (has_right_checksums && at >= 128 && !error.empty()) ++num_body_errors;
        for (const std::size_t piece_bytes : piece_sizes) {
          EXPECT_EQ(error_of([&] { loaded(damaged, piece_bytes); }), error) << "byte " << at;
        }
      }
    }
  }
  EXPECT_GT(num_body_errors, 50u);
}

TEST(Pieces, OfAFileCutAtEveryByteGiveTheErrorOfDeserialize) {
  for (const FilterShape& shape : one_of_each_kind()) {
    const Bytes bytes = serialize(filled(shape));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::span<const std::byte> cut = std::span(bytes).first(size);
      const std::string error = error_of([&] { deserialize(cut); });
      EXPECT_NE(error, "");
      for (const std::size_t piece_bytes : {std::size_t{7}, std::size_t{4096}})
        EXPECT_EQ(error_of([&] { loaded(cut, piece_bytes); }), error);
    }
  }
}

TEST(Pieces, AfterTheEndAreRefusedAndTheFilterIsThere) {
  const AnyFilter filter = filled(FilterShape{BloomShape{1013, 5}});
  const Bytes bytes = serialize(filter);
  Bytes longer = bytes;
  longer.resize(bytes.size() + 3);
  const std::string error = error_of([&] { deserialize(longer); });
  EXPECT_EQ(error_of([&] { loaded(longer, 4096); }), error);
  FilterLoader loader(no_limit);
  loader.add(bytes);
  EXPECT_EQ(error_of([&] { loader.add(std::span(longer).last(3)); }), error);
  loader.add({});
  EXPECT_TRUE(loader.is_complete());
  EXPECT_TRUE(std::move(loader).take() == filter);
}

TEST(Pieces, ThatAreRefusedChangeNothing) {
  for (const FilterShape& shape : one_of_each_kind()) {
    SCOPED_TRACE(describe(shape));
    const AnyFilter filter = filled(shape);
    const Bytes bytes = serialize(filter);
    const auto spanned = std::span(bytes);
    Bytes damaged = bytes;
    for (const std::size_t at : {std::size_t{100}, bytes.size() - 9}) damaged[at] ^= std::byte{1};
    FilterLoader loader(no_limit);
    loader.add(spanned.first(60));
    EXPECT_THROW(loader.add(std::span(damaged).subspan(60)), FormatError);
    EXPECT_EQ(loader.num_bytes(), 60u);
    EXPECT_FALSE(loader.header().has_value());
    loader.add(spanned.subspan(60, 80));
    ASSERT_TRUE(loader.header().has_value());
    EXPECT_EQ(loader.header()->shape, shape);
    EXPECT_THROW(loader.add(std::span(damaged).subspan(140)), FormatError);
    EXPECT_EQ(loader.num_bytes(), 140u);
    EXPECT_TRUE(std::ranges::equal(loader.body_piece(2, 99), spanned.subspan(130, 10)));
    EXPECT_TRUE(loader.body_piece(12, 99).empty());
    EXPECT_FALSE(loader.is_complete());
    loader.add(spanned.subspan(140));
    EXPECT_TRUE(loader.is_complete());
    EXPECT_TRUE(std::ranges::equal(loader.body_piece(3, 4), spanned.subspan(131, 4)));
    EXPECT_TRUE(std::move(loader).take() == filter);
  }
}

TEST(Pieces, OfMoreThanTheLimitAreRefusedWithTheHeader) {
  const Bytes bytes = serialize(filled(FilterShape{BloomShape{1013, 5}}));
  FilterLoader fits(128);
  fits.add(bytes);
  FilterLoader loader(127);
  test::expect_format_error([&] { loader.add(std::span(bytes).first(128)); },
                            "body length is 128; must be at most 127", 104);
  loader.add(std::span(bytes).first(127));
}

TEST(Pieces, WithASecretKeyNeedTheKey) {
  const AnyFilter filter =
      filled(FilterShape{BloomShape{1013, 5}}, KeyHasher::keyed(test::sample_hash_key()));
  const Bytes bytes = serialize(filter);
  EXPECT_EQ(error_of([&] { loaded(bytes, 7); }), error_of([&] { deserialize(bytes); }));
  EXPECT_TRUE(loaded(bytes, 7, test::sample_hash_key()) == filter);
}

}  // namespace
}  // namespace tally
