#include "shape/preference_options.hpp"

#include <string>

namespace tally::cli {

void add_preference_options(CommandLine app, Requirements& wanted) {
  const auto add = [&](PlanPreference preference, const std::string& description) {
    return app
        .add_flag(
            "--" + std::string(name_of(preference)),
            [&wanted, preference] { wanted.preference = preference; }, description)
        .group("Preference");
  };
  const Option fastest =
      add(PlanPreference::fastest,
          "Recommend the structure with the least time for a lookup, an insertion and, with "
          "--deletes, a removal");
  const Option smallest = add(
      PlanPreference::smallest,
      "Recommend the structure with the least memory; with --memory, the one with the lowest false positive "
      "rate or the most keys");
  const Option balanced = add(PlanPreference::balanced,
                              "Recommend the structure with the least product of time and memory: twice the "
                              "memory must save more than half of the time");
  fastest.excludes(smallest).excludes(balanced).excludes("--slow-cells");
  smallest.excludes(balanced);
  balanced.excludes("--slow-cells");
}

}  // namespace tally::cli
