#include "trial.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tally/theory/confidence.hpp"

namespace tally::bench {
namespace {

// A right structure fails the check of its false positive rate with at most this probability.
constexpr double failure_probability = 1e-6;

void keep(OperationTimes& times, Operation operation, double time) {
  times[static_cast<std::size_t>(operation)].push_back(time);
}

std::uint64_t count_true(std::span<const bool> found) {
  return static_cast<std::uint64_t>(std::ranges::count(found, true));
}

}  // namespace

Trial::Trial(const Entry& entry, const Workload& workload, bool hashed)
    : workload_(workload),
      hashed_(hashed),
      structure_(entry.make(workload.members().size())),
      numbers_(workload, structure_->facts().can_remove) {
  measured_.name = entry.name;
  measured_.num_keys = workload.members().size();
  measured_.planned_rate = structure_->facts().planned_rate;
  fill();
  measured_.num_bytes = structure_->num_bytes();
  check_members();
  check_absent();
}

void Trial::fill() {
  const Call call = structure_->facts().has_batches ? Call::batch : Call::single;
  const int num_times = structure_->facts().insertions_per_key;
  const std::uint64_t num_keys = measured_.num_keys;
  std::uint64_t num_failed = 0;
  double seconds = 0;
  for (std::uint64_t i = 0; i < num_keys; i += batch) {
    const SomeKeys some = members(i, std::min<std::uint64_t>(batch, num_keys - i));
    const double start = processor_seconds();
    for (int time = 0; time < num_times; ++time) num_failed += structure_->insert(some, call);
    seconds += processor_seconds() - start;
  }
  require(num_failed == 0, fmt::format("{}: {} insertions found no room", measured_.name, num_failed));
  measured_.fill_ns = 1e9 * seconds / static_cast<double>(num_keys) / num_times;
}

void Trial::check_members() {
  const std::uint64_t num_keys = measured_.num_keys;
  std::array<bool, batch> found;
  for (const Call call : {Call::batch, Call::single}) {
    if (call == Call::batch && !structure_->facts().has_batches) continue;
    for (std::uint64_t i = 0; i < num_keys; i += batch) {
      const auto own = std::span(found).first(std::min<std::uint64_t>(batch, num_keys - i));
      structure_->look_up(members(i, own.size()), call, own);
      require(count_true(own) == own.size(), measured_.name + ": a key is missing");
    }
  }
}

void Trial::check_absent() {
  const double planned = measured_.planned_rate.value_or(0.01);
  const double wanted = std::clamp(1e4 / std::max(planned, 1e-9), 1e5, 1e7);
  const auto num_queries = static_cast<std::uint64_t>(wanted) / batch * batch;
  std::array<bool, batch> found;
  std::uint64_t num_false = 0;
  for (std::uint64_t i = 0; i < num_queries; i += batch) {
    // None of the absent keys that are timed.
    const auto number_of = [](std::uint64_t at) { return 2 * first_absent + at; };
    structure_->look_up(keys(keys_, number_of, i), Call::batch, found);
    num_false += count_true(found);
  }
  measured_.false_positive_rate = static_cast<double>(num_false) / static_cast<double>(num_queries);
  if (!measured_.planned_rate) return;
  const auto limits = theory::binomial_confidence_limits(num_false, num_queries, 1 - failure_probability);
  // The rate of one filter differs from the mean of all, which is planned, by a share of order 1 / sqrt(num_keys).
  const double slack = 10 / std::sqrt(static_cast<double>(measured_.num_keys));
  require(limits.low <= planned * (1 + slack) && planned * (1 - slack) <= limits.high,
          fmt::format("{}: false positive rate {:.4g} in {} lookups, planned {:.4g}", measured_.name,
                      measured_.false_positive_rate, num_queries, planned));
}

void Trial::run_round(std::span<const std::uint64_t> lines, bool is_kept) {
  OperationTimes not_kept;
  OperationTimes& batches = is_kept ? measured_.batches : not_kept;
  OperationTimes& single = is_kept ? measured_.single : not_kept;
  const Structure::Facts& facts = structure_->facts();
  const std::uint64_t count = workload_.keys_per_pass();
  time_lines(lines, batches, single);
  // Not timed: what the structure needs returns to the caches.
  std::array<bool, batch> found;
  for (std::uint64_t i = 0; i < count; i += batch) structure_->look_up(members(i), Call::batch, found);
  num_passed_ = count;
  if (facts.has_batches) time_lookups(Call::batch, batches);
  time_lookups(Call::single, single);
  if (!facts.can_remove) {
    if (facts.has_batches) time_insertions(Call::batch, batches);
    time_insertions(Call::single, single);
  } else {
    // What takes no batches replaces the same keys, and the times of its first half are not kept.
    time_replacements(Call::batch, facts.has_batches ? batches : not_kept, 0);
    time_replacements(Call::single, single, 2 * count);
  }
}

void Trial::time_lines(std::span<const std::uint64_t> lines, OperationTimes& batches,
                       OperationTimes& single) {
  const auto own = lines.first(std::max<std::uint64_t>(measured_.num_bytes / 64, 1) * 8);
  const std::uint64_t count = workload_.keys_per_pass();
  std::uint64_t first = numbers_.absent(0);
  for (const auto& [operation, num_lines] :
       {std::pair(Operation::one_line, 1u), std::pair(Operation::two_lines, 2u)}) {
    keep(batches, operation, time_line_reads(own, num_lines, first, keys_, count));
    first += line_read_windows.size() * count;
    keep(single, operation, time_line_reads(own, num_lines, first, keys_, count, {1}));
    first += count;
  }
}

template <class NumberOf, class Use>
void Trial::time_pass(OperationTimes& times, Operation operation, NumberOf number_of, Use use) {
  const auto prepare = [&](std::uint64_t i) { return keys(keys_, number_of, i); };
  keep(times, operation, time_round(num_passed_, prepare, use, workload_.keys_per_pass()));
  num_passed_ += workload_.keys_per_pass();
}

void Trial::time_lookups(Call call, OperationTimes& times) {
  std::array<bool, batch> found;
  const auto time = [&](Operation operation, auto number_of) {
    time_pass(times, operation, number_of,
              [&](const SomeKeys& some) { structure_->look_up(some, call, found); });
  };
  time(Operation::lookup_absent, [&](std::uint64_t i) { return numbers_.absent(i); });
  time(Operation::lookup_present, [&](std::uint64_t i) { return numbers_.member(i); });
  time(Operation::lookup_mixed, [&](std::uint64_t i) { return numbers_.mixed(i); });
  time(Operation::lookup_zipf, [&](std::uint64_t i) { return numbers_.zipf(i); });
}

void Trial::time_insertions(Call call, OperationTimes& times) {
  time_pass(
      times, Operation::insert, [&](std::uint64_t i) { return numbers_.member(i); },
      [&](const SomeKeys& some) { (void)structure_->insert(some, call); });
}

void Trial::time_replacements(Call call, OperationTimes& times, std::uint64_t first) {
  const std::uint64_t count = workload_.keys_per_pass();
  std::uint64_t num_failed = 0;
  double removing = 0;
  double inserting = 0;
  double replacing = 0;
  for (std::uint64_t i = first; i < first + 2 * count; i += batch) {
    const SomeKeys old_keys = members(i);
    const SomeKeys new_keys = keys(
        more_keys_, [&](std::uint64_t at) { return numbers_.replacement(at); }, i);
    const double start = processor_seconds();
    if (i >= first + count) {
      num_failed += structure_->replace(old_keys, new_keys, call);
      replacing += processor_seconds() - start;
      continue;
    }
    num_failed += structure_->remove(old_keys, call);
    const double middle = processor_seconds();
    num_failed += structure_->insert(new_keys, call);
    removing += middle - start;
    inserting += processor_seconds() - middle;
  }
  require(num_failed == 0, fmt::format("{}: {} replacements failed", measured_.name, num_failed));
  const double ns_per_key = 1e9 / static_cast<double>(count);
  keep(times, Operation::remove, removing * ns_per_key);
  keep(times, Operation::insert, inserting * ns_per_key);
  keep(times, Operation::churn, replacing * ns_per_key);
}

}  // namespace tally::bench
