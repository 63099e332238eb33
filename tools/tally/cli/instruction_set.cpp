#include "cli/instruction_set.hpp"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace tally::cli {

namespace {

constexpr std::string_view baseline = "baseline";  // what every processor of this kind has

/// The name of each of Highway's bits, the best instruction set first.
std::vector<std::string_view> names_of(std::int64_t sets) {
  std::vector<std::string_view> names;
  for (; sets != 0; sets &= sets - 1) names.emplace_back(hwy::TargetName(sets & -sets));
  return names;
}

/// The bit of the compiled set with this name, 0 if there is none.
std::int64_t compiled_set(std::string_view name) {
  if (name == baseline) return HWY_STATIC_TARGET;
  for (std::int64_t sets = HWY_TARGETS; sets != 0; sets &= sets - 1) {
    if (hwy::TargetName(sets & -sets) == name) return sets & -sets;
  }
  return 0;
}

}  // namespace

void take_instruction_set_from_environment() {
  const char* const name = std::getenv("TALLY_INSTRUCTION_SET");
  if (name == nullptr || *name == '\0') return;
  const std::int64_t wanted = compiled_set(name);
  if (wanted == 0) {
    throw std::invalid_argument(fmt::format("TALLY_INSTRUCTION_SET is '{}'; must be one of {}, {}", name,
                                            fmt::join(names_of(HWY_TARGETS), ", "), baseline));
  }
  const std::int64_t usable = HWY_TARGETS & hwy::SupportedTargets();
  if ((usable & wanted) == 0) {
    throw std::invalid_argument(
        fmt::format("TALLY_INSTRUCTION_SET is '{}', which this processor does not have; it has {}", name,
                    fmt::join(names_of(usable), ", ")));
  }
  hwy::DisableTargets(~wanted);
}

std::string instruction_set_text() {
  return fmt::format("instruction set: {} of {}", names_of(HWY_TARGETS & HWY_SUPPORTED_TARGETS).front(),
                     fmt::join(names_of(HWY_TARGETS), ", "));
}

}  // namespace tally::cli
