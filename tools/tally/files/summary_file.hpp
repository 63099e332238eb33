#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "input/byte_source.hpp"
#include "tally/any_filter/summary.hpp"
#include "tally/summaries/delta.hpp"

// What diff, patch and watch share: filter files as summaries, and messages from files and pipes.

namespace tally::cli {

/// The summary of a filter file. Throws as `load`, and std::invalid_argument that names the path for a kind without one.
SummaryTable load_summary(const std::string& path, const std::optional<HashKey>& key);

/// The directory's name in messages: `name`, or the path's last part without its ending if that is empty.
std::string publisher_name(const std::string& name, const std::string& path);

/// Messages one after the other.
class MessageReader {
 public:
  /// Throws std::system_error that names the path.
  explicit MessageReader(const std::string& path);

  /// The bytes of the next message, valid until the next call; nothing at the end. Throws FormatError for what is
  /// not one or ends early, std::invalid_argument for one longer than `max_bytes`.
  std::optional<std::span<const std::byte>> next(std::uint64_t max_bytes);

 private:
  bool fill(std::size_t size);

  std::string subject_;  // of errors
  std::unique_ptr<ByteSource> source_;
  std::vector<char> bytes_;
  std::size_t num_bytes_ = 0;  // of them, filled
};

}  // namespace tally::cli
