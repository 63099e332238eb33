#include "shape/options.hpp"

#include <vector>

#include "cli/options.hpp"

namespace tally::cli {

Option add_kind(CommandLine app, std::string& kind, const std::string& description) {
  std::vector<std::string> names;
  for (const KindTraits& traits : all_kinds()) names.emplace_back(traits.name);
  return add_choice(app, "--kind", kind, description, names);
}

Option add_update(CommandLine app, std::optional<CounterUpdate>& update, const std::string& description) {
  const auto choose = [&update](std::string_view name) {
    update = name == name_of(CounterUpdate::plain) ? CounterUpdate::plain : CounterUpdate::conservative;
  };
  return add_choice(
      app, "--update", choose, description,
      {std::string(name_of(CounterUpdate::plain)), std::string(name_of(CounterUpdate::conservative))});
}

}  // namespace tally::cli
