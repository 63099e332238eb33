#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "commands/commands.hpp"
#include "files/filter_file.hpp"
#include "files/open_file.hpp"
#include "files/sketch_file.hpp"
#include "plot/figures.hpp"
#include "tally/planner.hpp"
#include "text/bound_text.hpp"

namespace tally::cli {

namespace {

struct InfoOptions {
  FilterFileOptions filter;
  std::optional<double> false_positive_rate;
  PlotOptions plot;
  bool json = false;
};

// The largest number of distinct keys for which the shape meets the rate.
std::uint64_t num_keys_at(const FilterShape& shape, double false_positive_rate) {
  return std::visit(
      [&](const auto& own) -> std::uint64_t {
        if constexpr (requires { planned_num_keys(own, false_positive_rate); }) {
          return planned_num_keys(own, false_positive_rate);
        } else {
          return 0;  // a sketch is not planned for a number of keys
        }
      },
      shape.shape);
}

std::string rebuild_advice(double num_keys, double rate) {
  if (!std::isfinite(num_keys)) return "rebuild it larger";
  return fmt::format("rebuild with --keys {:.0f} --false-positive-rate {:.2g}", std::ceil(num_keys * 1.01),
                     rate);
}

// Half full is where k hashes do best (Summary Cache); a shape with the fewest hashes for its rate is
// planned for a little more. Beyond this a larger filter is better.
constexpr double much_fill = 0.55;

// The problems of the filter, each with advice.
std::vector<std::string> problems_of(const AnyFilter& filter, const FilterStatistics& statistics,
                                     std::optional<double> asked_rate) {
  std::vector<std::string> problems;
  const FilterShape shape = filter.shape();
  const double rate_now = statistics.estimated_false_positive_rate;
  const double best_rate = std::exp2(-static_cast<double>(shape.num_hashes()));
  const double rate = asked_rate.value_or(std::max(best_rate, 1e-15));
  if (asked_rate && rate_now > *asked_rate) {
    problems.push_back(fmt::format("the false positive rate is {}, above the {} of --false-positive-rate; {}",
                                   human_rate(rate_now), human_rate(*asked_rate),
                                   rebuild_advice(statistics.estimated_num_keys, rate)));
  } else if (!asked_rate && !filter.can_fill_up() && !filter.is_sketch() &&
             shape.made_for_theta().value_or(1) <= 1 && statistics.fill_ratio() > much_fill) {
    const auto best_keys = static_cast<double>(num_keys_at(shape, rate));
    std::string text = fmt::format("fill {}, more than half", human_rate(statistics.fill_ratio()));
    if (best_keys > 0 && std::isfinite(statistics.estimated_num_keys)) {
      text += fmt::format(": {:.1f} times the number of keys that {} hashes are best for",
                          statistics.estimated_num_keys / best_keys, shape.num_hashes());
    }
    problems.push_back(text + "; " + rebuild_advice(statistics.estimated_num_keys, rate));
  }
  if (filter.can_remove() && statistics.num_saturated > 0) {
    problems.push_back(fmt::format(
        "{} saturated counters, which stay at their maximum; no key is lost, but removed keys may "
        "still be found; rebuild with --counter-bits {}",
        statistics.num_saturated, shape.counter_bits() < 8 ? 8 : shape.counter_bits() * 2));
  }
  if (filter.is_sketch() && statistics.num_saturated > 0) {
    problems.push_back(fmt::format(
        "{} saturated counters: the count of a key that has only such counters has no upper bound; rebuild "
        "with more --counter-bits",
        statistics.num_saturated));
  }
  if (filter.totals().num_full > 0) {
    problems.push_back(
        fmt::format("{} keys were refused because the filter was full, and are not in it; rebuild with more "
                    "--keys, --max-doublings or --frequent-keys",
                    filter.totals().num_full));
  }
  if (statistics.num_refused_removes > 0) {
    problems.push_back(fmt::format(
        "{} removals of keys that are not in the filter were refused; others like them may have "
        "got through as false positives, and then keys are missing; remove only keys that you added",
        statistics.num_refused_removes));
  }
  return problems;
}

/// Shares of the buckets (or lines) of each subtable by the number of cells in use.
std::string loads_text(std::span<const std::vector<std::uint64_t>> loads) {
  std::vector<std::string> header{"cells in use"};
  for (std::size_t i = 1; i <= loads.size(); ++i) header.push_back(fmt::format("subtable {}", i));
  Table text(header);
  for (std::size_t load = 0; load < loads.front().size(); ++load) {
    std::vector<std::string> row{fmt::format("{}", load)};
    bool any = false;
    for (const std::vector<std::uint64_t>& subtable : loads) {
      const auto num_buckets = static_cast<double>(std::accumulate(subtable.begin(), subtable.end(), 0ull));
      row.push_back(human_rate(static_cast<double>(subtable[load]) / num_buckets));
      any = any || subtable[load] > 0;
    }
    if (any) text.add_row(row);
  }
  return text.text();
}

std::string histogram_text(const FilterStatistics& statistics, const FilterShape& shape) {
  constexpr std::size_t max_rows = 16;
  Table table({"value", traits_of(shape.kind()).can_fill_up ? "cells" : "counters", "share"});
  const std::size_t rows = std::min(statistics.histogram.size(), max_rows);
  const auto row = [&](const std::string& value, std::uint64_t num_counters) {
    table.add_row(
        {value, fmt::format("{}", num_counters),
         human_rate(static_cast<double>(num_counters) / static_cast<double>(shape.num_positions()))});
  };
  for (std::size_t i = 0; i < rows; ++i) {
    const HistogramBin& bin = statistics.histogram[i];
    row(bin.least == bin.greatest           ? fmt::format("{}", bin.least)
        : bin.greatest == ~std::uint64_t{0} ? fmt::format("{} or more", bin.least)
                                            : fmt::format("{} to {}", bin.least, bin.greatest),
        bin.num_counters);
  }
  std::uint64_t rest = 0;
  for (std::size_t i = rows; i < statistics.histogram.size(); ++i)
    rest += statistics.histogram[i].num_counters;
  if (rest > 0) row("larger", rest);
  return table.text();
}

std::string info_text(const AnyFilter& filter, const FilterStatistics& statistics,
                      const std::vector<std::string>& problems, bool verified) {
  const FilterShape shape = filter.shape();
  const bool keyed = filter.hasher().id() != HashId::xxh3_128;
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<20} {}\n", name, value);
  };
  row("kind", std::string(name_of(shape.kind())));
  row("scheme", std::string(shape.scheme_name()));
  row("hash", fmt::format("{}, {} {}", name_of(filter.hasher().id()), keyed ? "key id" : "seed",
                          filter.hasher().seed_or_key_id()));
  const std::optional<DLeftStatistics> dleft = filter.dleft_statistics();
  const std::optional<CompactDLeftStatistics> compact = filter.compact_statistics();
  if (dleft) {
    const DLeftShape& own = std::get<DLeftShape>(shape.shape);
    row("cells", fmt::format("{}: {} subtables of {} buckets of {}", own.num_cells(), own.num_subtables,
                             own.current_buckets_per_subtable(), own.cells_per_bucket));
    row("bits per cell",
        fmt::format("{} of remainder, {} of counter", own.current_remainder_bits(), own.counter_bits));
    row("doublings",
        fmt::format("{} of {}{}", own.num_doublings, own.remainder_bits - own.least_remainder_bits,
                    own.grows ? ", automatic" : ""));
    row("side table", fmt::format("{} of {} entries in use", dleft->table.num_spilled, own.spill_capacity));
    row("moves", fmt::format("{}; needed by {} insertions", name_of(own.moves), dleft->totals.num_rescues));
  } else if (compact) {
    const CompactDLeftShape& own = std::get<CompactDLeftShape>(shape.shape);
    row("cells", fmt::format("{}: 2 subtables of {} lines of {}", own.num_cells(), own.num_lines_per_subtable,
                             own.line().num_cells));
    row("remainder bits", fmt::format("{}", own.remainder_bits));
    row("side table", fmt::format("{} of {} entries in use", compact->num_spilled, own.spill_capacity));
    row("moves", fmt::format("{}; needed by {} insertions", name_of(own.moves), compact->totals.num_rescues));
  } else if (const auto* count_min = std::get_if<CountMinShape>(&shape.shape)) {
    row("counters",
        fmt::format("{} rows of {}{}", count_min->num_rows(), count_min->width,
                    count_min->num_copies == 1 ? "" : fmt::format(", {} per copy", count_min->depth)));
  } else {
    row(shape.counter_bits() == 1 ? "bits" : "counters", fmt::format("{}", shape.num_positions()));
    row("hashes", fmt::format("{}", shape.num_hashes()));
  }
  if (filter.can_count() && !filter.can_fill_up())
    row("counter bits", fmt::format("{}", shape.counter_bits()));
  if (const auto theta = shape.made_for_theta()) row("threshold", fmt::format("{}", *theta));
  if (const auto* count_min = std::get_if<CountMinShape>(&shape.shape)) {
    row("update", std::string(name_of(count_min->update)));
  } else if (const auto* threshold = std::get_if<ThresholdShape>(&shape.shape)) {
    row("update", std::string(name_of(threshold->update)));
  }
  row("memory", human_bytes(static_cast<double>(shape.num_bytes())));
  row("body", verified ? "checksum verified" : "checksum not verified (--no-verify)");
  if (const auto bound = filter.count_min_bound()) {
    row("total count", fmt::format("{}", statistics.num_insertions));
    row("a count is", bound_text(*bound));
    if (filter.totals().rounding > 0)
      row("halvings", fmt::format("added at most {} to a count", filter.totals().rounding));
  } else {
    row("insertions", fmt::format("{}", statistics.num_insertions));
  }
  if (filter.can_remove()) {
    row("removes", fmt::format("{}, {} refused", statistics.num_removes, statistics.num_refused_removes));
  }
  row("distinct keys", std::isfinite(statistics.estimated_num_keys)
                           ? fmt::format("{:.0f} +- {:.0f} (estimate)", statistics.estimated_num_keys,
                                         statistics.estimated_num_keys_standard_error)
                           : "too many to estimate");
  row("fill", human_rate(statistics.fill_ratio()));
  row("false positive rate", human_rate(statistics.estimated_false_positive_rate));
  for (const double rate : {0.01, 0.001}) {
    if (filter.is_sketch()) break;
    row(fmt::format("keys at {}", human_rate(rate)), fmt::format("at most {}", num_keys_at(shape, rate)));
  }
  if (dleft) text += "\n" + loads_text(dleft->table.loads);
  if (compact) text += "\n" + loads_text(compact->loads);
  if (!statistics.histogram.empty()) text += "\n" + histogram_text(statistics, shape);
  for (const std::string& problem : problems) text += fmt::format("\nproblem: {}\n", problem);
  return text;
}

ExitCode show_sketch(const InfoOptions& options, const AnySketch& sketch) {
  const std::string_view kind = name_of(kind_of(sketch));
  if (options.false_positive_rate)
    throw std::invalid_argument(
        fmt::format("--false-positive-rate: a {} file has no such rate; leave it out", kind));
  if (options.plot.wanted)
    throw std::invalid_argument(fmt::format("--plot: a {} file has no plot; leave it out", kind));
  if (options.json) {
    Json json = sketch_to_json(sketch);
    json["body_verified"] = true;
    print_json(json);
  } else {
    print(sketch_info_text(sketch));
  }
  return ExitCode::success;
}

ExitCode run_info(const InfoOptions& options) {
  check_plot(options.plot, options.json);
  const OpenFile file(options.filter);
  if (file.sketch() != nullptr) return show_sketch(options, *file.sketch());
  const AnyFilter* const filter = &file.filter();
  const FilterStatistics statistics = filter->statistics();
  const std::vector<std::string> problems = problems_of(*filter, statistics, options.false_positive_rate);
  if (options.json) {
    Json json = filter_to_json(*filter, statistics);
    if (!filter->is_sketch()) json["num_keys_at_one_percent"] = num_keys_at(filter->shape(), 0.01);
    json["body_verified"] = options.filter.verify;
    json["problems"] = problems;
    print_json(json);
  } else {
    print(info_text(*filter, statistics, problems, options.filter.verify));
  }
  if (options.plot.wanted) draw(options.plot, info_figure(*filter, statistics));
  const bool missed =
      options.false_positive_rate && statistics.estimated_false_positive_rate > *options.false_positive_rate;
  return missed ? ExitCode::none : ExitCode::success;
}

}  // namespace

Run declare_info(CommandLine app) {
  const auto options = std::make_shared<InfoOptions>();
  add_details(app, R"(
      Prints shape, hash, fill, counters by value, the current false positive rate, and problems with advice. For
      a file of 'tally top --save', it prints candidates, sketch and bounds.
      )");
  app.set_exit_status(
      {.success = "after success", .none = "if the current rate is above --false-positive-rate"});
  add_filter_file(app, options->filter);
  add_rate(app, "-p,--false-positive-rate", options->false_positive_rate,
           "The highest acceptable false positive rate");
  add_no_verify(app, options->filter.verify);
  add_plot(app, options->plot, "counters by value");
  add_json(app, options->json);
  return [options] { return run_info(*options); };
}

}  // namespace tally::cli
