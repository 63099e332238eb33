#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "any_value.hpp"
#include "call.hpp"
#include "redis_module_api.hpp"
#include "tally/serialization/sketch_loader.hpp"
#include "tally/sketches/top_keys.hpp"

namespace tally::redis {

/// What a list of the most frequent items was reserved with.
struct TopKOptions {
  std::uint64_t k = 1;  ///< items in the list
  // The size of the sketch that counts all other items.
  std::uint64_t width = 8;
  std::uint64_t depth = 7;
  double decay = 0.9;  ///< only reported: counts do not decay
};

/// The k most frequent items, in a TopKeys. Nothing in it is random except its seed.
///
/// The body of its dump is a Tally file of it.
class TopKValue final : public AnyValue {
 public:
  static constexpr const char* type_name = "tallytopk";
  static constexpr std::string_view first_bytes = "TALLYTK1";  ///< of a dump
  inline static api::Type* type = nullptr;

  /// For a load.
  TopKValue() = default;
  /// Throws std::invalid_argument for options out of range, Refusal for more than the limits of the call, and
  /// std::bad_alloc.
  TopKValue(const TopKOptions& options, std::uint64_t seed, const Call& call);

  /// Returns the item that left the list, if one did. Throws std::bad_alloc, and then changes nothing.
  std::optional<std::string> add(std::string_view item, std::uint64_t increment);
  /// The same without the item that left.
  void count_up(std::string_view item, std::uint64_t increment) { put(item, increment, needs_a_place(item)); }
  /// An upper bound of the memory that it takes to add this number of items with these bytes in all.
  std::uint64_t most_bytes_to_add(std::uint64_t num_items, std::uint64_t item_bytes) const noexcept;
  bool is_listed(std::string_view item) const;
  /// Never too low.
  std::uint64_t count(std::string_view item) const { return keys_->estimate(item).count; }
  /// The items by falling counts. Refers to the bytes here.
  std::vector<KeyCount> list() const { return keys_->top(options_.k); }

  const TopKOptions& options() const noexcept { return options_; }
  /// The most memory that it can take with items of these bytes in all, beside those that it has.
  std::uint64_t memory_with(std::uint64_t item_bytes) const noexcept;

  void require_complete() const override;
  std::string dump_header() const override;
  std::string empty_header() const override;
  std::uint64_t dump_bytes() const override;
  std::string_view dump_piece(std::uint64_t offset) const override;
  void begin_load(std::string_view header, std::uint64_t max_bytes) override;
  /// A file that is undamaged but does not fit the header is refused with its last piece, and its load begins anew.
  void load_piece(std::uint64_t end, std::string_view bytes) override;
  void load_empty(std::string_view header, std::uint64_t max_bytes) override;
  std::uint64_t total_bytes() const override { return loader_ ? file_bytes_ : dump_bytes(); }

 private:
  std::uint64_t own_memory_bytes() const override;
  std::unique_ptr<AnyValue> copy_without_journal() const override;
  /// Whether the item can come into the list only if another one leaves it.
  bool needs_a_place(std::string_view item) const {
    return keys_->candidates().is_full() && !is_listed(item);
  }
  /// Returns whether another item has left the list.
  bool put(std::string_view item, std::uint64_t increment, bool can_replace);
  std::string header_with(std::uint64_t file_bytes) const;
  const SketchPieces& pieces() const;
  void take_file();
  std::uint64_t read_header(std::string_view header, std::uint64_t max_bytes);

  TopKOptions options_;
  std::uint64_t seed_ = 0;
  std::optional<TopKeys<>> keys_;
  std::uint64_t item_bytes_ = 0;                ///< of the list
  mutable std::optional<SketchPieces> pieces_;  ///< made when it is dumped, until it changes
  // While it is incomplete:
  std::uint64_t file_bytes_ = 0;
  std::optional<SketchLoader> loader_;
};

}  // namespace tally::redis
