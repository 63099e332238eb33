#include "shape/scheme_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "cli/options.hpp"

namespace tally::cli {
namespace {

const NamedScheme& default_scheme(FilterKind kind) {
  const KindTraits& traits = traits_of(kind);
  return *std::ranges::find(traits.schemes, traits.default_scheme_id, &NamedScheme::file_id);
}

std::string description_of_positions() {
  return fmt::format("How positions are calculated from the hash of a key (default: {})",
                     default_scheme(FilterKind::bloom).name);
}

}  // namespace

Option add_scheme(CommandLine app, std::string& scheme) {
  std::vector<std::string> names = scheme_names(FilterKind::bloom);
  std::ranges::move(scheme_names(FilterKind::blocked_bloom), std::back_inserter(names));
  return add_choice(app, "--scheme", scheme, description_of_positions(), names);
}

Option add_scheme_of_any_kind(CommandLine app, std::string& scheme, const std::string& of_sketches,
                              const std::vector<std::string>& more) {
  std::vector<std::string> names;
  for (const KindTraits& kind : all_kinds()) {
    if (kind.schemes.size() == 1) continue;  // there is no choice
    for (const std::string& name : scheme_names(kind.kind))
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  names.insert(names.end(), more.begin(), more.end());
  return add_choice(
      app, "--scheme", scheme,
      fmt::format("{}; or buckets in a dleft filter (default: {}), or columns in a count-min sketch {}",
                  description_of_positions(), default_scheme(FilterKind::dleft).name, of_sketches),
      names);
}

std::vector<std::string> scheme_names(FilterKind kind) {
  std::vector<std::string> names;
  for (const NamedScheme& scheme : traits_of(kind).schemes) names.emplace_back(scheme.name);
  return names;
}

NamedScheme scheme_for(FilterKind kind, const std::string& name) {
  if (name.empty()) return default_scheme(kind);
  const KindTraits& traits = traits_of(kind);
  if (traits.schemes.size() == 1) {
    throw std::invalid_argument(
        fmt::format("--scheme: a {} filter has only one scheme; leave it out", traits.name));
  }
  const auto found = std::ranges::find(traits.schemes, name, &NamedScheme::name);
  if (found == traits.schemes.end()) {
    throw std::invalid_argument(
        fmt::format("--scheme: '{}' is not a scheme of a {} filter; must be one of {}", name, traits.name,
                    fmt::join(scheme_names(kind), ", ")));
  }
  return *found;
}

}  // namespace tally::cli
