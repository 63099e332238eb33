#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/command.hpp"
#include "shape/shape.hpp"

namespace tally::cli {

/// For --explain: prints what a run would keep, its memory and its errors. Reads nothing. `exception` is the text of
/// unless_chosen.
ExitCode explain_exact_uniq(std::optional<std::uint64_t> memory_bytes, std::string_view exception);
ExitCode explain_approximate_uniq(const Planned& planned, std::string_view exception);
ExitCode explain_forgetful_uniq(std::uint64_t memory_bytes, std::string_view exception);

}  // namespace tally::cli
