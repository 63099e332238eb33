#include "text/explanation.hpp"

#include <fmt/core.h>

#include "text/output.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {

std::string exact_bytes(std::uint64_t bytes) {
  return fmt::format("{} ({} bytes)", human_bytes(static_cast<double>(bytes)), bytes);
}

void print_explanation(const std::string& sentences) { print(wrapped(sentences, 0) + "\n"); }

}  // namespace tally::cli
