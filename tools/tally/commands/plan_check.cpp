#include "commands/plan_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "files/plan_json.hpp"
#include "text/output.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

std::string memory_of(const Candidate& candidate) {
  return human_bytes(static_cast<double>(candidate.shape.num_bytes()));
}

std::string keys_of(const Candidate& candidate) {
  return human_count(static_cast<double>(candidate.num_keys));
}

/// "threshold (never inserted)" for one that promises its rate only for fewer true counts.
std::string name_of_fit(const StructureFit& fit, std::uint64_t highest_promise) {
  const std::string name(name_of(fit.kind));
  return fit.promised_true_count < highest_promise ? name + " (never inserted)" : name;
}

/// "3.1 MiB are left" or "3.1 MiB are missing", signed for the table.
std::string left_of(const StructureFit& fit, std::uint64_t memory_bytes) {
  if (!fit.needed) return "-";
  const double left = static_cast<double>(memory_bytes) - static_cast<double>(fit.needed->shape.num_bytes());
  return left < 0 ? "-" + human_bytes(-left) : human_bytes(left);
}

std::string text_or_dash(const std::optional<Candidate>& candidate, std::string (*text)(const Candidate&)) {
  return candidate ? text(*candidate) : "-";
}

std::string rate_of(const Candidate& candidate) { return human_rate(candidate.false_positive_rate); }

std::string answer_of(const PlanCheck& check) {
  const std::string question = fmt::format(
      "{} keys at a false positive rate of {} in {}", human_count(static_cast<double>(check.num_keys)),
      human_rate(check.false_positive_rate), human_bytes(static_cast<double>(check.memory_bytes)));
  if (check.is_enough()) {
    const StructureFit& first = check.structures.front();
    return fmt::format("Enough: {} holds {}. It needs {}, and {} are left.", name_of(first.kind), question,
                       memory_of(*first.needed), left_of(first, check.memory_bytes));
  }
  return fmt::format("Not enough: no structure holds {}.", question);
}

/// What would do instead, one line each.
std::string alternatives_of(const PlanCheck& check) {
  std::string text;
  const auto add = [&](const std::string& line) { text += wrapped("- " + line, 2) + "\n"; };
  if (const Candidate* least = check.with_least_memory())
    add(fmt::format("{} of memory ({})", memory_of(*least), name_of(least->kind())));
  if (const Candidate* lowest = check.with_lowest_rate())
    add(fmt::format("a false positive rate of {} ({})", rate_of(*lowest), name_of(lowest->kind())));
  if (const Candidate* most = check.with_most_keys())
    add(fmt::format("{} keys ({})", keys_of(*most), name_of(most->kind())));
  return text.empty() ? text : "One of these would do:\n" + text;
}

Json candidate_or_null(const Candidate* candidate) { return candidate ? candidate_json(*candidate) : Json(); }

Json fit_json(const StructureFit& fit, std::uint64_t memory_bytes) {
  const auto json_of = [](const std::optional<Candidate>& candidate) {
    return candidate_or_null(candidate ? &*candidate : nullptr);
  };
  Json left;
  if (fit.needed) {
    left = static_cast<std::int64_t>(memory_bytes - fit.needed->shape.num_bytes());
  }
  return {{"kind", name_of(fit.kind)},
          {"promised_true_count", fit.promised_true_count},
          {"fits", fit.fits},
          {"memory_left_bytes", left},
          {"needed", json_of(fit.needed)},
          {"with_memory", json_of(fit.with_memory)},
          {"with_most_keys", json_of(fit.with_most_keys)}};
}

}  // namespace

std::string plan_check_text(const PlanCheck& check) {
  std::uint64_t highest_promise = 0;
  for (const StructureFit& fit : check.structures)
    highest_promise = std::max(highest_promise, fit.promised_true_count);
  Table table({"structure", "memory needed", "left", "enough", "rate with all of the memory",
               fmt::format("keys at {}", human_rate(check.false_positive_rate))});
  for (const StructureFit& fit : check.structures) {
    table.add_row({name_of_fit(fit, highest_promise), text_or_dash(fit.needed, memory_of),
                   left_of(fit, check.memory_bytes), fit.fits ? "yes" : "no",
                   text_or_dash(fit.with_memory, rate_of), text_or_dash(fit.with_most_keys, keys_of)});
  }
  std::string text = table.text() + "\n" + wrapped(answer_of(check), 0) + "\n";
  if (!check.is_enough()) text += alternatives_of(check);
  for (const std::string& warning : check.warnings)
    text += wrapped(fmt::format("Note: {}.", warning), 2) + "\n";
  return text;
}

Json plan_check_json(const PlanCheck& check) {
  Json structures = Json::array();
  for (const StructureFit& fit : check.structures) structures.push_back(fit_json(fit, check.memory_bytes));
  return {{"is_enough", check.is_enough()},
          {"num_keys", check.num_keys},
          {"false_positive_rate", check.false_positive_rate},
          {"memory_bytes", check.memory_bytes},
          {"structures", structures},
          {"with_least_memory", candidate_or_null(check.with_least_memory())},
          {"with_lowest_rate", candidate_or_null(check.with_lowest_rate())},
          {"with_most_keys", candidate_or_null(check.with_most_keys())},
          {"warnings", check.warnings}};
}

}  // namespace tally::cli
