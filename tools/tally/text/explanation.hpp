#pragma once

#include <cstdint>
#include <string>

namespace tally::cli {

/// "2.58 MiB (2702048 bytes)"
std::string exact_bytes(std::uint64_t bytes);

/// What --explain prints: sentences, as a paragraph on standard output.
void print_explanation(const std::string& sentences);

}  // namespace tally::cli
