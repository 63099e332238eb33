#include "plots.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "bench/timing.hpp"

namespace tally::bench {
namespace {

/// Half of the lookups of absent keys and half of present ones; in batches if there are any.
double lookup_ns(const Measured& measured) {
  const bool has_batches = !times_of(measured.batches, Operation::lookup_mixed).empty();
  return cli::median(times_of(has_batches ? measured.batches : measured.single, Operation::lookup_mixed));
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

/// A logarithmic range around the values, as gnuplot takes it.
std::string range_of(const std::vector<double>& values) {
  const auto [least, largest] = std::ranges::minmax(values);
  return fmt::format("[{:.9g}:{:.9g}]", least / 1.5, largest * 1.5);
}

/// Each structure is a point with a number, which the list beside the picture explains.
template <class ValueOf>
std::string script_of(const std::string& file, const std::string& title, const std::string& y_label,
                      const std::vector<Measured>& all, ValueOf value_of) {
  std::vector<double> rates;
  std::vector<double> values;
  std::string data;
  std::string plot;
  for (const Measured& measured : all) {
    if (!(measured.false_positive_rate > 0)) continue;
    rates.push_back(measured.false_positive_rate);
    values.push_back(value_of(measured));
    const std::size_t number = rates.size();
    data +=
        fmt::format("$point{} << END\n{:.9g} {:.9g} {}\nEND\n", number, rates.back(), values.back(), number);
    plot += fmt::format(
        "{} $point{} using 1:2 with points pointtype 7 pointsize 0.7 linecolor {} title {}, "
        "$point{} using 1:2:3 with labels left offset {},0.3 notitle",
        plot.empty() ? "plot" : ",", number, number, quoted(fmt::format("{} {}", number, measured.name)),
        number, number % 2 == 0 ? 0.6 : -2.2);
  }
  if (rates.empty()) return "";
  return fmt::format(
             "set encoding utf8\n"
             "set terminal svg noenhanced size 1000,600 font 'Helvetica,12' background 'white'\n"
             "set output {}\nset title {}\nset xlabel 'false positive rate'\nset ylabel {}\n"
             "set border 3\nset tics nomirror\nset grid linecolor rgb '#dddddd'\nset logscale xy\n"
             "set format x '%g'\nset format y '%g'\nset key outside right top reverse Left\n"
             "set xrange {}\nset yrange {}\nset ytics add (2, 3, 5, 20, 30, 50, 200, 300, 500)\n",
             quoted(file), quoted(title), quoted(y_label), range_of(rates), range_of(values)) +
         data + plot + "\n";
}

void run_gnuplot(const std::string& script) {
  if (script.empty()) return;  // no structure had a false positive
  FILE* const gnuplot = popen("gnuplot -d", "w");
  if (gnuplot == nullptr) throw std::runtime_error("--plot: cannot start a shell");
  std::fwrite(script.data(), 1, script.size(), gnuplot);
  if (pclose(gnuplot) != 0)
    throw std::runtime_error("--plot: gnuplot failed, or is not installed (gnuplot-nox)");
}

}  // namespace

void draw_plots(const std::string& prefix, const std::vector<Measured>& all) {
  const std::uint64_t num_keys = all.front().num_keys;
  const std::string start = fmt::format("{}{}", prefix, num_keys);
  run_gnuplot(script_of(
      start + "_time.svg",
      fmt::format("{} keys: a lookup, half of the keys present; in batches if there are any", num_keys),
      "ns per key", all, lookup_ns));
  run_gnuplot(script_of(start + "_space.svg", fmt::format("{} keys: memory as allocated", num_keys),
                        "bits per key", all, [](const Measured& own) { return own.bits_per_key(); }));
}

}  // namespace tally::bench
