#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "input/byte_source.hpp"
#include "tally/any_filter/summary.hpp"
#include "tally/summaries/delta.hpp"

// The common part of diff, patch and watch: filter files as summaries, and messages from files and pipes.

namespace tally::cli {

/// The summary of a filter file. Throws what `load` throws, and std::invalid_argument that names the path for
/// a kind without a summary.
SummaryTable load_summary(const std::string& path, const std::optional<HashKey>& key);

/// The directory's name in messages: `name`, or if that is empty, the file name of the path without its
/// ending.
std::string publisher_name(const std::string& name, const std::string& path);

/// Messages one after the other.
class MessageReader {
 public:
  /// Throws std::system_error that names the path.
  explicit MessageReader(const std::string& path);

  /// The bytes of the next message, valid until the next call; empty at the end. Throws FormatError for bytes
  /// that are not a valid message or that end early, and std::invalid_argument for a message longer than
  /// `max_bytes`.
  std::optional<std::span<const std::byte>> next(std::uint64_t max_bytes);

 private:
  bool fill(std::size_t size);

  std::string subject_;  // of errors
  std::unique_ptr<ByteSource> source_;
  std::vector<char> bytes_;
  std::size_t num_bytes_ = 0;  // of them, filled
};

}  // namespace tally::cli
