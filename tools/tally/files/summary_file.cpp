#include "files/summary_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "tally/serialization.hpp"

namespace tally::cli {

SummaryTable load_summary(const std::string& path, const std::optional<HashKey>& key) {
  const AnyFilter filter = load(path == "-" ? "/dev/stdin" : path, key);
  try {
    return summary_of(filter);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("'{}': {}", path, error.what()));
  }
}

std::string publisher_name(const std::string& name, const std::string& path) {
  if (!name.empty()) return name;
  std::string stem = std::filesystem::path(path).stem().string();
  stem.resize(std::min(stem.size(), max_publisher_bytes));
  return stem.empty() ? "stdin" : stem;
}

MessageReader::MessageReader(const std::string& path)
    : subject_((path == "-" ? "standard input" : path) + " as a summary message"),
      source_(ByteSource::open(path)) {}

// Grows with what has arrived, so that a header cannot request more memory than bytes follow.
bool MessageReader::fill(std::size_t size) {
  while (num_bytes_ < size) {
    bytes_.resize(std::min(size, std::max<std::size_t>(2 * num_bytes_, 1 << 16)));
    const std::size_t count = source_->read(std::span(bytes_).subspan(num_bytes_));
    if (count == 0) return false;
    num_bytes_ += count;
  }
  return true;
}

std::optional<std::span<const std::byte>> MessageReader::next(std::uint64_t max_bytes) {
  num_bytes_ = 0;
  if (!fill(summary_header_bytes)) {
    if (num_bytes_ == 0) return std::nullopt;
    throw FormatError(fmt::format("it ends after {} bytes of a header", num_bytes_), num_bytes_, subject_);
  }
  const auto so_far = [&] { return std::as_bytes(std::span<const char>(bytes_.data(), num_bytes_)); };
  const std::uint64_t size = [&] {
    try {
      return summary_message_bytes(so_far());
    } catch (const FormatError& error) {
      throw FormatError(error.reason(), error.offset(), subject_);
    }
  }();
  if (size > max_bytes) {
    throw std::invalid_argument(
        fmt::format("a message has {} bytes; must be at most {}; raise --max-memory", size, max_bytes));
  }
  if (!fill(size)) {
    throw FormatError(fmt::format("it ends after {} of {} bytes", num_bytes_, size), num_bytes_, subject_);
  }
  return so_far();
}

}  // namespace tally::cli
