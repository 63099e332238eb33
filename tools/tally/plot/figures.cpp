#include "plot/figures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <stdexcept>

#include "files/filter_file.hpp"
#include "tally/theory/dleft_fluid_limit.hpp"
#include "tally/theory/tails.hpp"

namespace tally::cli {
namespace {

std::string label_of(const Candidate& candidate) {
  const auto* dleft = std::get_if<DLeftShape>(&candidate.shape.shape);
  if (dleft == nullptr) return std::string(name_of(candidate.kind()));
  return fmt::format("{} {} x {}", name_of(candidate.kind()), dleft->num_subtables, dleft->cells_per_bucket);
}

struct Unit {
  double bytes;
  std::string_view name;
};

Unit unit_for(double bytes) {
  Unit unit{1, "bytes"};
  for (const std::string_view larger : {"KiB", "MiB", "GiB", "TiB", "PiB"}) {
    if (bytes < 4 * 1024 * unit.bytes) break;
    unit = {unit.bytes * 1024, larger};
  }
  return unit;
}

double error_of(const Candidate& candidate) { return candidate.errors.front().false_positive_rate; }

/// Ordered by memory, only those with a lower false positive rate than any with less memory.
std::vector<Point> least_errors(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  std::vector<Point> kept;
  for (const Point& point : points) {
    if (kept.empty() || point.y < kept.back().y) kept.push_back(point);
  }
  return kept;
}

/// Pr(least <= Poisson(mean) <= greatest).
double poisson_share(const HistogramBin& bin, double mean) {
  if (mean == 0) return bin.least == 0 ? 1 : 0;
  const double above = std::exp(theory::ln_poisson_upper_tail(bin.least, mean));
  if (bin.greatest == bin.least) return std::exp(theory::ln_poisson_point(bin.least, mean));
  constexpr std::uint64_t last = std::uint64_t{1} << 40;  // the law's range
  return bin.greatest >= last ? above
                              : above - std::exp(theory::ln_poisson_upper_tail(bin.greatest + 1, mean));
}

/// Buckets or lines by cells in use, over all subtables, beside the fluid limit.
Figure loads_figure(const FilterShape& shape, std::span<const std::vector<std::uint64_t>> loads) {
  const std::string parts = shape.kind() == FilterKind::dleft ? "buckets" : "lines";
  Series measured{.title = parts, .look = Series::Look::bars};
  Series law{.title = "fluid limit, keys only inserted", .look = Series::Look::points};
  double num_buckets = 0;
  double num_cells = 0;
  std::vector<double> buckets(loads.front().size());
  for (const auto& subtable : loads) {
    for (std::size_t load = 0; load < subtable.size(); ++load) {
      buckets[load] += static_cast<double>(subtable[load]);
      num_buckets += static_cast<double>(subtable[load]);
      num_cells += static_cast<double>(load * subtable[load]);
    }
  }
  // The loads that occur, and one more on both sides.
  const auto occurs = [](double number) { return number > 0; };
  const auto from = std::find_if(buckets.begin(), buckets.end(), occurs);
  const auto first = static_cast<std::size_t>(std::max<std::ptrdiff_t>(from - buckets.begin() - 1, 0));
  const auto to = std::find_if(buckets.rbegin(), buckets.rend(), occurs);
  const auto end = std::min(buckets.size(), static_cast<std::size_t>(buckets.rend() - to) + 1);
  for (std::size_t load = first; load < end; ++load)
    measured.points.push_back({static_cast<double>(load), buckets[load]});
  if (num_cells > 0) {
    const theory::DLeftLoads limit =
        theory::dleft_loads(shape.num_hashes(), num_cells / num_buckets, theory::insert_only);
    for (std::size_t load = first; load < end; ++load) {
      const double share = limit.fraction(load) - (load + 1 < buckets.size() ? limit.fraction(load + 1) : 0);
      law.points.push_back({static_cast<double>(load), num_buckets * share});
    }
  }
  return {
      .title = fmt::format("{} filter of {} {}, {:.1f}% of its cells in use", name_of(shape.kind()),
                           num_buckets, parts, 100 * num_cells / static_cast<double>(shape.num_positions())),
      .x_label = "cells in use",
      .y_label = parts,
      .whole_x = true,
      .series = {measured, law}};
}

}  // namespace

Figure plan_figure(const Requirements& wanted, const Plan& plan) {
  double least = HUGE_VAL;
  double greatest = 0;
  for (const Candidate& candidate : plan.candidates) {
    least = std::min(least, static_cast<double>(candidate.shape.num_bytes()));
    greatest = std::max(greatest, static_cast<double>(candidate.shape.num_bytes()));
  }
  Requirements at = wanted;
  at.false_positive_rate.reset();
  if (!at.num_keys && !at.histogram) at.num_keys = plan.recommended().num_keys;

  const Unit unit = unit_for(static_cast<double>(plan.recommended().shape.num_bytes()));
  const auto point = [&](const Candidate& candidate) {
    return Point{static_cast<double>(candidate.shape.num_bytes()) / unit.bytes, error_of(candidate)};
  };
  std::vector<FilterKind> kinds;  // in the order of the plan
  std::map<FilterKind, std::vector<Point>> curves;
  const auto add = [&](const Candidate& candidate) {
    const FilterKind kind = candidate.kind();
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) curves[kind].push_back(point(candidate));
  };
  Series candidates{.title = "candidates", .look = Series::Look::points};
  for (const Candidate& candidate : plan.candidates) {
    if (!curves.contains(candidate.kind())) kinds.push_back(candidate.kind());
    add(candidate);
    candidates.points.push_back(point(candidate));
  }
  constexpr int num_steps = 48;
  const double from = least / 2;
  const double to = greatest * 2;
  for (int i = 0; i <= num_steps; ++i) {
    at.memory_bytes =
        static_cast<std::uint64_t>(from * std::pow(to / from, static_cast<double>(i) / num_steps));
    try {
      for (const Candidate& candidate : tally::plan(at).candidates) add(candidate);
    } catch (const std::invalid_argument&) {  // no structure is this small, or this large
    }
  }
  const Candidate& first = plan.recommended();
  const std::string asked = wanted.theta() > 1 ? fmt::format(", seen {} times or more?", wanted.theta()) : "";
  Figure figure{.title = fmt::format("{} keys{}: {}, {}, false positive rate {}",
                                     human_count(static_cast<double>(first.num_keys)), asked, label_of(first),
                                     human_bytes(static_cast<double>(first.shape.num_bytes())),
                                     human_rate(error_of(first))),
                .x_label = fmt::format("memory, {}", unit.name),
                .y_label = wanted.theta() > 1 ? "false positive rate (if never seen)" : "false positive rate",
                .logarithmic_x = true,
                .logarithmic_y = true};
  for (const FilterKind kind : kinds)
    figure.series.push_back(
        {.title = std::string(name_of(kind)), .points = least_errors(std::move(curves[kind]))});
  figure.series.push_back(std::move(candidates));
  figure.series.push_back({.title = "recommended", .look = Series::Look::mark, .points = {point(first)}});
  return figure;
}

Figure info_figure(const AnyFilter& filter, const FilterStatistics& statistics) {
  const FilterShape shape = filter.shape();
  if (const auto dleft = filter.dleft_statistics()) return loads_figure(shape, dleft->table.loads);
  if (const auto compact = filter.compact_statistics()) return loads_figure(shape, compact->loads);

  const auto num_positions = static_cast<double>(shape.num_positions());
  std::vector<HistogramBin> bins = statistics.histogram;
  if (bins.empty())
    bins = {{0, 0, shape.num_positions() - statistics.num_nonzero}, {1, 1, statistics.num_nonzero}};
  const bool has_law = std::visit(
      [](const auto& own) {
        if constexpr (requires { own.update; }) return own.update == CounterUpdate::plain;
        return true;
      },
      shape.shape);
  const auto num_inside = static_cast<double>(statistics.num_insertions - statistics.num_removes);
  const double mean = num_inside * shape.num_hashes() / num_positions;
  const std::uint64_t greatest =
      shape.counter_bits() >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << shape.counter_bits()) - 1;

  Series measured{.title = shape.counter_bits() == 1 ? "bits" : "counters", .look = Series::Look::bars};
  Series law{.title = fmt::format("Poisson law, mean {:.3g}", mean), .look = Series::Look::points};
  for (HistogramBin bin : bins) {
    measured.points.push_back({static_cast<double>(bin.least), static_cast<double>(bin.num_counters)});
    if (bin.greatest == greatest) bin.greatest = ~std::uint64_t{0};  // it includes everything above it
    const double expected = num_positions * poisson_share(bin, mean);
    if (expected > 0.1) law.points.push_back({static_cast<double>(bin.least), expected});
  }
  Figure figure{
      .title = shape_text(shape),
      .x_label = has_law
                     ? fmt::format("value; the predicted distribution is for {} insertions of distinct keys",
                                   human_count(num_inside))
                     : "value",
      .y_label = measured.title,
      .logarithmic_y = bins.size() > 2,  // the few large ones are the interesting ones
      .whole_x = true,
      .series = {measured}};
  if (has_law) figure.series.push_back(law);
  return figure;
}

Figure verify_figure(std::string title, std::string x_label, const std::vector<VerifiedRate>& rates) {
  Series predicted{.title = "predicted", .look = Series::Look::mark};
  Series measured{.title = "measured, with limits", .look = Series::Look::limits};
  Series none{.title = "no false positive: upper limit",
              .look = Series::Look::points};  // no logarithmic axis has 0
  Figure figure{.title = std::move(title),
                .x_label = std::move(x_label),
                .y_label = "false positive rate",
                .whole_x = true};
  double least = HUGE_VAL;
  double greatest = 0;
  for (const VerifiedRate& rate : rates) {
    least = std::min(least, rate.predicted);
    greatest = std::max(greatest, rate.predicted);
    const auto x = static_cast<double>(figure.x_names.size());
    predicted.points.push_back({x, rate.predicted});
    if (rate.measured > 0) {
      measured.points.push_back({x, rate.measured, rate.low, rate.high});
    } else {
      none.points.push_back({x, rate.high});
    }
    figure.x_names.push_back(rate.name);
  }
  figure.logarithmic_y = greatest > 10 * least;
  figure.series = {measured, predicted, none};
  return figure;
}

}  // namespace tally::cli
