#include <algorithm>
#include <string>
#include <utility>

#include "serialization/parts.hpp"
#include "tally/detail/little_endian.hpp"

namespace tally::detail {
namespace {

[[noreturn]] void refuse(const std::string& reason, std::uint64_t body_offset) {
  throw FormatError(reason, file_header_bytes + body_offset);
}

std::uint64_t word_at(FileBytes body, std::uint64_t index) {
  return load_little_endian<std::uint64_t>(body.data() + 8 * index);
}

/// The cells in a file's bytes, at any alignment.
class Cells {
 public:
  Cells(const DLeftShape& shape, FileBytes body)
      : shape_(shape),
        body_(body),
        cell_mask_((std::uint64_t{1} << shape.cell_bits()) - 1),
        num_words_(CellTable::num_words(shape.num_cells(), shape.cell_bits())) {}

  std::uint64_t byte_of(std::uint64_t cell) const { return cell * shape_.cell_bits() / 8; }

  std::uint64_t get(std::uint64_t cell) const {
    const std::uint64_t bit = cell * shape_.cell_bits();
    const std::uint64_t bytes = load_little_endian<std::uint32_t>(body_.data() + bit / 8);
    return bytes >> bit % 8 & cell_mask_;
  }

  void check(std::uint64_t num_bytes, CheckedUnits& checked) const noexcept {
    const std::uint64_t low = (std::uint64_t{1} << shape_.least_remainder_bits) - 1;
    const std::uint64_t moved = ((std::uint64_t{1} << shape_.remainder_bits) - 1) &
                                ~((std::uint64_t{1} << shape_.current_remainder_bits()) - 1);
    const std::uint64_t end = std::min(shape_.num_cells(), 8 * num_bytes / shape_.cell_bits());
    CheckedUnits next = checked;
    for (; next.num_good < end; ++next.num_good) {
      const std::uint64_t cell = get(next.num_good);
      if (cell == 0) continue;
      if ((cell & low) == 0 || (cell & moved) != 0) break;
      ++next.num_fingerprints;
    }
    checked = next;
  }

  void require_all(const CheckedUnits& checked, std::uint64_t num_fingerprints) const {
    if (checked.num_good != shape_.num_cells()) {
      refuse("cell " + std::to_string(checked.num_good) + " holds an impossible remainder",
             byte_of(checked.num_good));
    }
    if (checked.num_fingerprints != num_fingerprints) {
      refuse("the number of cells in use is " + std::to_string(checked.num_fingerprints) + "; must be " +
                 std::to_string(num_fingerprints) + ", the header's num_fingerprints",
             0);
    }
    const std::uint64_t num_bits = shape_.num_cells() * shape_.cell_bits();
    for (std::uint64_t i = num_bits / 64; i < num_words_; ++i) {
      const std::uint64_t used = i == num_bits / 64 ? (std::uint64_t{1} << num_bits % 64) - 1 : 0;
      if ((word_at(body_, i) & ~used) == 0) continue;
      refuse("an unused bit of the body's word " + std::to_string(i) + " is set; must be clear", 8 * i);
    }
  }

  /// Whether a cell of the fingerprint is at its maximum: only then can the side table have more.
  template <class Scheme>
  bool has_full_cell(const Scheme& scheme, std::uint64_t fingerprint) const {
    const std::uint32_t remainder_bits = shape_.current_remainder_bits();
    const std::uint64_t max_counter = (std::uint64_t{1} << shape_.counter_bits) - 1;
    for (std::uint32_t i = 0; i < shape_.num_subtables; ++i) {
      const std::uint64_t image = scheme.image(i, fingerprint);
      const std::uint64_t bucket = i * shape_.current_buckets_per_subtable() + (image >> remainder_bits);
      const std::uint64_t full =
          max_counter << shape_.remainder_bits | (image & ((std::uint64_t{1} << remainder_bits) - 1));
      for (std::uint32_t j = 0; j < shape_.cells_per_bucket; ++j) {
        if (get(bucket * shape_.cells_per_bucket + j) == full) return true;
      }
    }
    return false;
  }

 private:
  const DLeftShape& shape_;
  FileBytes body_;
  std::uint64_t cell_mask_;
  std::uint64_t num_words_;
};

/// Calls use(rule) with whether a fingerprint may be in the side table.
template <class Use>
void with_side_table_rule(const FileHeader& header, const DLeftShape& shape, const Cells& cells, Use use) {
  BucketSchemes::with_id(header.shape.scheme_id, [&]<class Scheme>(std::type_identity<Scheme>) {
    const FingerprintSpace space = shape.fingerprint_space();
    const Scheme scheme(space, header.seed_or_key_id);
    const auto belongs = [&](std::uint64_t image) {
      const std::uint64_t low = image & ((std::uint64_t{1} << space.least_remainder_bits) - 1);
      const bool is_image = low != 0 && image >> space.remainder_bits < space.num_buckets;
      return is_image && cells.has_full_cell(scheme, scheme.fingerprint(0, image));
    };
    use(SideTableRule(std::ref(belongs)));  // allocates nothing
  });
}

}  // namespace

void check_dleft_part(const FileHeader& header, const DLeftShape& shape, const BodyBytes& body,
                      std::uint64_t num_bytes, CheckedUnits& checked, CheckedSideTable& side_table) noexcept {
  const Cells cells(shape, body.main);
  if (num_bytes <= body.main.size()) return cells.check(num_bytes, checked);
  cells.check(body.main.size(), checked);
  with_side_table_rule(header, shape, cells, [&](const SideTableRule& belongs) {
    check_side_table(body, num_bytes - body.main.size(), shape.spill_capacity, belongs, side_table);
  });
}

void check_dleft_rest(const FileHeader& header, const DLeftShape& shape, const BodyBytes& body,
                      const CheckedUnits& checked, const CheckedSideTable& side_table) {
  const Cells cells(shape, body.main);
  cells.require_all(checked, header.totals.num_fingerprints);
  with_side_table_rule(header, shape, cells, [&](const SideTableRule& belongs) {
    check_rest_of_side_table(body, shape.spill_capacity, belongs, side_table);
  });
}

}  // namespace tally::detail
