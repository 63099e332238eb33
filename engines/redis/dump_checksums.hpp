#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tally/any_filter/filter_view.hpp"
#include "tally/serialization/file_pieces.hpp"

namespace tally::redis {

/// The checksums of the files in a dump for a client, computed in steps: clients wait no longer than to read this number of
/// bytes.
class DumpChecksums {
 public:
  static constexpr std::uint64_t step_bytes = std::uint64_t{16} << 20;

  /// `description` is all of the value but the bodies. It changes with every write, because it has the totals.
  DumpChecksums(std::string description, std::size_t num_files)
      : description_(std::move(description)), files_(num_files) {}

  const std::string& description() const noexcept { return description_; }

  /// Reads the next bytes of the bodies, at most step_bytes. Returns whether all are read.
  bool advance(const std::vector<FilterView>& filters) noexcept {
    std::uint64_t left = step_bytes;
    for (std::size_t i = 0; i < files_.size() && left > 0; ++i) {
      while (left > 0) {
        const auto piece = body_piece(filters[i], files_[i].num_bytes(), left);
        if (piece.empty()) break;
        files_[i].add(piece);
        left -= piece.size();
      }
    }
    num_bytes_ += step_bytes - left;
    is_complete_ = files_.empty() || files_.back().num_bytes() == filters.back().shape.num_bytes();
    return is_complete_;
  }

  bool is_complete() const noexcept { return is_complete_; }
  std::uint64_t num_bytes() const noexcept { return num_bytes_; }  ///< that were read
  const BodyChecksum& of_file(std::size_t i) const noexcept { return files_[i]; }

 private:
  std::string description_;
  std::vector<BodyChecksum> files_;
  std::uint64_t num_bytes_ = 0;
  bool is_complete_ = false;
};

}  // namespace tally::redis
