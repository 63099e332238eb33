#include <fmt/core.h>

#include <algorithm>

#include "commands/verify.hpp"
#include "files/shape_json.hpp"
#include "plot/figures.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

/// The name of the law behind a predicted rate. With theta above 1 only that of lines is exact, because a key's counters
/// are not independent.
std::string_view name_of_law(const SimulationPlan& plan, LawKind kind) {
  const bool is_of_lines = plan.shape.kind() == FilterKind::blocked_counting_bloom;
  return kind == LawKind::exact && plan.threshold > 1 && !is_of_lines ? "independent" : name_of(kind);
}

Json promise_json(const PromiseVerdict& verdict, const std::optional<std::uint64_t>& error_of_sketch) {
  return {{"error", json_or_null(error_of_sketch)},
          {"false_positive_rate", verdict.promise.false_positive_rate},
          {"true_count", verdict.promise.true_count},
          {"measured_rate", verdict.measured.rate()},
          {"low", verdict.low},
          {"noticed_rate", verdict.noticed_rate},
          {"verdict", name_of(verdict.outcome)}};
}

Json outcome_json(const Outcome& outcome, double confidence) {
  const SimulationPlan& plan = outcome.plan;
  Json tests = Json::array();
  for (const Verdict& verdict : outcome.verdicts) {
    const MeasuredRate& rate = verdict.measured;
    tests.push_back({{"true_count", rate.true_count},
                     {"num_queries", rate.num_queries},
                     {"num_passed", rate.num_passed},
                     {"measured_rate", rate.rate()},
                     {"predicted_rate", verdict.predicted},
                     {"law", name_of_law(plan, verdict.law)},
                     {"low", verdict.limits.low},
                     {"high", verdict.limits.high},
                     {"design_effect", rate.design_effect},
                     {"noticed_rate", verdict.noticed_rate},
                     {"seen", verdict.is_seen},
                     {"verdict", verdict.inside ? "inside" : "outside"}});
  }
  return {{"shape", shape_to_json(plan.shape)},
          {"num_insertions", plan.num_insertions},
          {"num_insertions_of_original", json_or_null(outcome.num_insertions_of_original)},
          {"num_trials", plan.num_trials},
          {"seed", plan.seed},
          {"family_confidence", confidence},
          {"one_sided", is_upper_bound(plan.shape)},
          {"tests", tests},
          {"promise", outcome.promise ? promise_json(*outcome.promise, outcome.error_of_sketch) : Json()},
          {"num_false_negatives", outcome.result.num_false_negatives},
          {"num_positives_checked", outcome.result.num_positives_checked},
          {"verdict", outcome.is_good() ? "inside" : "outside"}};
}

/// What num_positions and num_hashes mean for a kind.
struct PartNames {
  std::string_view positions;
  std::string_view hashes;
};

PartNames part_names(FilterKind kind) {
  switch (kind) {
    case FilterKind::dleft:
    case FilterKind::compact_dleft:
      return {"cells", "subtables"};
    case FilterKind::count_min:
      return {"counters", "rows"};
    default:
      return {"positions", "hashes"};
  }
}

std::string title_of(const std::vector<Outcome>& outcomes) {
  const SimulationPlan& plan = outcomes.front().plan;
  const PartNames parts = part_names(plan.shape.kind());
  std::string title = fmt::format("{}, ", name_of(plan.shape.kind()));
  if (outcomes.size() == 1) title += fmt::format("{} {}, ", plan.shape.num_positions(), parts.positions);
  const bool is_of_all = std::ranges::all_of(outcomes, [&](const Outcome& outcome) {
    return outcome.plan.shape.num_hashes() == plan.shape.num_hashes();
  });
  if (is_of_all) title += fmt::format("{} {}, ", plan.shape.num_hashes(), parts.hashes);
  if (plan.shape.kind() == FilterKind::count_min) title += fmt::format("theta {}, ", plan.threshold);
  title += outcomes.size() == 1 ? fmt::format("{} scheme: ", plan.shape.scheme_name()) : "every scheme: ";
  title += fmt::format("{} insertions, {} filters\n", plan.num_insertions, plan.num_trials);
  if (const auto& original = outcomes.front().num_insertions_of_original) {
    title +=
        wrapped(
            fmt::format(
                "A smaller filter with as many positions per key, because {} insertions take long; --trials "
                "verifies the filter itself.",
                *original),
            0) +
        "\n";
  }
  return title + "\n";
}

/// "+12%", or "3.1 times" for more than twice as high; "-" if no rate is higher.
std::string excess(double noticed, double rate) {
  const double times = noticed / rate;
  if (!(times > 1)) return "-";
  if (times < 2) return fmt::format("+{:.2g}%", 100 * (times - 1));
  if (times < 10) return fmt::format("{:.1f} times", times);
  return times < 1e6 ? fmt::format("{:.0f} times", times) : fmt::format("{:.0e} times", times);
}

std::string_view word_for(const Verdict& verdict) {
  if (!verdict.inside) return verdict.contradicts() ? "OUTSIDE" : "differs";
  return verdict.is_seen ? "inside" : "too small to be seen";
}

std::string promise_text(const PromiseVerdict& verdict, const std::optional<std::uint64_t>& error_of_sketch) {
  const Promise& promise = verdict.promise;
  std::string text = fmt::format("at most {:.4g}", promise.false_positive_rate);
  if (error_of_sketch) text += fmt::format(" of absent keys are counted above {}", *error_of_sketch);
  if (promise.true_count > 0)
    text += fmt::format(" for keys that were inserted {} time{}", promise.true_count,
                        promise.true_count == 1 ? "" : "s");
  text += fmt::format(": measured {:.4g}, ", verdict.measured.rate());
  const std::string noticed = excess(verdict.noticed_rate, promise.false_positive_rate);
  switch (verdict.outcome) {
    case PromiseOutcome::kept:
      return text + fmt::format("kept (would notice {})", noticed);
    case PromiseOutcome::broken:
      return text + fmt::format("BROKEN: it is at least {:.4g}", verdict.low);
    case PromiseOutcome::unseen:
      break;
  }
  return text +
         fmt::format("too small to be seen: {:.2g} false positives were expected (would notice {})",
                     static_cast<double>(verdict.measured.num_effective()) * promise.false_positive_rate,
                     noticed);
}

std::string promises_text(const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.promise) continue;
    const std::string of = outcomes.size() > 1 ? fmt::format(" of {}", outcome.plan.shape.scheme_name()) : "";
    text +=
        wrapped(fmt::format("Promise{}: {}.", of, promise_text(*outcome.promise, outcome.error_of_sketch)),
                0) +
        "\n";
  }
  return text;
}

}  // namespace

Json outcomes_json(const std::vector<Outcome>& outcomes, const VerifyOptions& options) {
  if (options.shape.scheme != every_scheme) return outcome_json(outcomes.front(), options.confidence);
  Json schemes = Json::array();
  for (const Outcome& outcome : outcomes) schemes.push_back(outcome_json(outcome, options.confidence));
  const bool is_good = std::ranges::all_of(outcomes, &Verification::is_good);
  return {{"schemes", schemes}, {"verdict", is_good ? "inside" : "outside"}};
}

std::string outcomes_text(const std::vector<Outcome>& outcomes, double confidence) {
  std::string text = title_of(outcomes);
  const bool has_all = outcomes.size() > 1;
  std::vector<std::string> header{"true count", "queries", "passed",  "measured",     "predicted",
                                  "law",        "lowest",  "highest", "would notice", "verdict"};
  if (has_all) header.insert(header.begin(), {"scheme", "positions"});
  Table table(header);
  std::uint64_t num_false_negatives = 0;
  std::uint64_t num_positives_checked = 0;
  bool has_limit = false;
  bool has_unseen = false;
  for (const Outcome& outcome : outcomes) {
    for (const Verdict& verdict : outcome.verdicts) {
      const MeasuredRate& rate = verdict.measured;
      const auto number = [](double value) { return fmt::format("{:.4g}", value); };
      std::vector<std::string> row{std::to_string(rate.true_count),
                                   std::to_string(rate.num_queries),
                                   std::to_string(rate.num_passed),
                                   number(rate.rate()),
                                   number(verdict.predicted),
                                   std::string(name_of_law(outcome.plan, verdict.law)),
                                   number(verdict.limits.low),
                                   number(verdict.limits.high),
                                   excess(verdict.noticed_rate, verdict.predicted),
                                   std::string(word_for(verdict))};
      if (has_all)
        row.insert(row.begin(), {std::string(outcome.plan.shape.scheme_name()),
                                 std::to_string(outcome.plan.shape.num_positions())});
      table.add_row(row);
      has_limit |= verdict.law == LawKind::limit;
      has_unseen |= verdict.inside && !verdict.is_seen;
    }
    num_false_negatives += outcome.result.num_false_negatives;
    num_positives_checked += outcome.result.num_positives_checked;
  }
  text += table.text();
  text += fmt::format("\nFalse negatives: {} of {} checked.\n", num_false_negatives, num_positives_checked);
  text += promises_text(outcomes);
  std::string remarks = fmt::format(
      "The limits hold for all rows {} with confidence {:.4g}%; 9 of 10 runs like this one would notice a "
      "rate that much "
      "higher",
      outcomes.front().promise ? "and the promise together" : "together", 100 * confidence);
  if (has_unseen)
    remarks +=
        "; of a rate that is too small to be seen, because too few false positives are expected, only the "
        "upper limit is "
        "tested";
  if (is_upper_bound(outcomes.front().plan.shape))
    remarks +=
        "; with conservative update the measured rate may be lower than the prediction, which is for plain "
        "update";
  if (has_limit)
    remarks +=
        "; predictions with the law 'limit' are limits for large filters, and small filters may differ";
  return text + wrapped(remarks + ".", 0) + "\n";
}

Figure outcomes_figure(const std::vector<Outcome>& outcomes) {
  std::vector<VerifiedRate> rates;
  const bool has_all = outcomes.size() > 1;
  for (const Outcome& outcome : outcomes) {
    for (const Verdict& verdict : outcome.verdicts) {
      const MeasuredRate& rate = verdict.measured;
      std::string name =
          has_all ? std::string(outcome.plan.shape.scheme_name()) : std::to_string(rate.true_count);
      if (has_all && outcome.verdicts.size() > 1) name += fmt::format(", {}", rate.true_count);
      rates.push_back(
          {std::move(name), verdict.predicted, rate.rate(), verdict.limits.low, verdict.limits.high});
    }
  }
  const std::string title = title_of(outcomes);
  return verify_figure(title.substr(0, title.find('\n')),
                       has_all ? "scheme, in the order of the table" : "times that the key was inserted",
                       rates);
}

}  // namespace tally::cli
