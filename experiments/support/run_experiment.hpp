#pragma once

#include <functional>
#include <string>

#include "report.hpp"
#include "trials.hpp"

namespace CLI {
class App;
}

namespace tally::experiments {

struct Experiment {
  std::string about;  ///< for --help
  Options usual;
  Options small;                  ///< trials and steps of --small
  std::string other_trials = {};  ///< what --other-trials counts; without it there is no such flag
  std::function<void(const Options&, Report&)> run;
  std::function<void(CLI::App&)> add_options = [](CLI::App&) {};
};

/// `main` of an experiment: reads the flags, runs it, writes its report as CSV. 0 if no measurement
/// contradicts its prediction, 1 if one does, another number for flags that cannot be.
int run_experiment(int argc, char** argv, const Experiment& experiment);

}  // namespace tally::experiments
