#include "run_experiment.hpp"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

namespace tally::experiments {

int run_experiment(int argc, char** argv, const Experiment& experiment) {
  Options options = experiment.usual;
  std::string output = "-";
  CLI::App app(experiment.about);
  app.add_option("--trials", options.trials, "Independent trials of each setting")
      ->check(CLI::Range(std::uint64_t{2}, std::uint64_t{1} << 32))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "Removals, each followed by an insertion, of each trial")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "The same seed gives the same numbers")->capture_default_str();
  app.add_option("--threads", options.threads, "Trials that run at once")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--output", output, "CSV file; - is stdout")->capture_default_str();
  app.add_flag("--small", options.small, "Few short trials: seconds, as in the tests");
  if (!experiment.other_trials.empty())
    app.add_option("--other-trials", options.other_trials, experiment.other_trials)->capture_default_str();
  experiment.add_options(app);
  CLI11_PARSE(app, argc, argv);
  if (options.small) {
    if (app.count("--trials") == 0) options.trials = experiment.small.trials;
    if (app.count("--steps") == 0) options.steps = experiment.small.steps;
    options.other_trials = options.trials;
  }

  try {
    Report report;
    experiment.run(options, report);
    if (output == "-") {
      report.write(std::cout);
    } else {
      std::ofstream file(output);
      report.write(file);
      if (!file.flush()) throw std::runtime_error("cannot write " + output);
    }
    if (report.holds()) return 0;
    std::cerr << "a measurement contradicts its prediction: see 'no' in column 'holds'\n";
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
  }
  return 1;
}

}  // namespace tally::experiments
