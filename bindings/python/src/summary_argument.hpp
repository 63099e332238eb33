#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "python.hpp"
#include "tally/summaries/message.hpp"

namespace tally::python {

/// A message in an argument, read and checked. Bytes that anybody may change meanwhile are copied first.
class SummaryArgument {
 public:
  /// Throws TypeError that names the field, FormatError.
  SummaryArgument(py::handle object, const char* field);

  const SummaryMessage& message() const noexcept { return message_; }
  std::size_t num_bytes() const noexcept { return bytes_.size(); }
  /// How much work it is to apply it, in keys of a batch.
  std::size_t work() const noexcept;

 private:
  py::object source_;  // keeps the bytes
  std::vector<std::byte> copy_;
  std::span<const std::byte> bytes_;
  SummaryMessage message_;
};

}  // namespace tally::python
