#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "arguments.hpp"
#include "functions.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/summaries/message.hpp"
#include "tally/theory/summary_cache.hpp"

namespace tally::page {
namespace {

constexpr double seconds_per_hour = 3600;
constexpr double header_bytes = static_cast<double>(summary_header_bytes);
constexpr double most_steps = 0x1p20;

/// The bytes of messages about a filter. What they hold is what docs/summaries.md says: positions in a Rice code of their
/// gaps, and of a cell its count in unary, which is 1 bit for an empty one, and its remainder.
class Messages {
 public:
  explicit Messages(const FilterShape& shape) : shape_(shape) {
    if (!has_summary(shape.kind()))
      throw std::invalid_argument(
          "'shape': a " + std::string(name_of(shape.kind())) +
          " filter has no summary; use a bloom, blocked-bloom, counting-bloom or dleft filter");
    if (const auto* const dleft = std::get_if<DLeftShape>(&shape.shape)) {
      has_cells_ = true;
      bits_per_cell_ = 2 + dleft->current_remainder_bits();
      word_bits_ = static_cast<double>(dleft->num_cells()) * dleft->cell_bits();
    } else {
      word_bits_ = static_cast<double>(shape.num_positions());
    }
  }

  double delta_bytes(std::uint64_t num_keys, std::uint64_t removed, std::uint64_t added) const {
    const std::uint64_t num_units = shape_.num_positions();
    if (!has_cells_) {
      const double q = theory::flipped_share(num_units, shape_.num_hashes(), num_keys, removed, added);
      return header_bytes + theory::rice_delta_bits(num_units, q) / 8;
    }
    const double changed = theory::dleft_changed_cells(num_units, num_keys, removed, added);
    const double filled = std::min(changed, static_cast<double>(added));
    return header_bytes + (theory::rice_delta_bits(num_units, changed / static_cast<double>(num_units)) +
                           filled * bits_per_cell_ + (changed - filled)) /
                              8;
  }

  /// The shorter one of both codings.
  double full_bytes(std::uint64_t num_keys) const {
    const std::uint64_t num_units = shape_.num_positions();
    const double none_left = static_cast<double>(num_units);
    double used = std::min(static_cast<double>(num_keys), none_left);
    if (!has_cells_)
      used = none_left *
             -std::expm1(static_cast<double>(num_keys) * shape_.num_hashes() * std::log1p(-1 / none_left));
    const double coded =
        theory::rice_delta_bits(num_units, used / none_left) + used * (has_cells_ ? bits_per_cell_ : 0);
    return header_bytes + std::min(word_bits_, coded) / 8;
  }

 private:
  const FilterShape& shape_;
  bool has_cells_ = false;
  double bits_per_cell_ = 0;
  double word_bits_ = 0;
};

/// The arguments of summary_costs.
struct Question {
  FilterShape shape;
  std::uint64_t num_keys = 0;
  double insertions_per_hour = 0;
  double removals_per_hour = 0;
  std::uint64_t num_nodes = 2;
  double new_share = 0.01;
  double interval_seconds = theory::never;
  double delay_seconds = 0;
  double heartbeat_seconds = 5;  // that of `tally node`
  bool evictions = true;
};

Question question_of(Arguments& arguments) {
  Question question{.shape = arguments.shape()};
  question.num_keys = arguments.required<std::uint64_t>("num_keys");
  question.insertions_per_hour = arguments.required<double>("insertions_per_hour");
  question.removals_per_hour = question.insertions_per_hour;
  arguments.read("removals_per_hour", question.removals_per_hour);
  arguments.read("num_nodes", question.num_nodes);
  arguments.read("share_of_new_keys", question.new_share);
  arguments.read("interval_seconds", question.interval_seconds);
  arguments.read("delay_seconds", question.delay_seconds);
  arguments.read("heartbeat_seconds", question.heartbeat_seconds);
  arguments.read("evictions", question.evictions);
  if (question.num_keys == 0) arguments.refuse("num_keys", question.num_keys, "at least 1");
  if (question.num_nodes < 2 || question.num_nodes > 1'000'000)
    arguments.refuse("num_nodes", question.num_nodes, "2 to 1000000");
  if (!(question.heartbeat_seconds > 0))
    arguments.refuse("heartbeat_seconds", question.heartbeat_seconds, "above 0");
  return question;
}

/// The keys that change between two messages, as the formulas need them.
std::uint64_t whole(double number, std::uint64_t most) {
  return static_cast<std::uint64_t>(std::min(std::round(number), static_cast<double>(most)));
}

theory::Staleness staleness_of(const Question& asked, double insertion_rate, double removal_rate) {
  // The formulas want a limit that is reached.
  if (insertion_rate == 0 && removal_rate == 0) return {.interval = theory::never};
  return theory::summary_staleness(
      {.num_keys = static_cast<double>(asked.num_keys),
       .insertion_rate = insertion_rate,
       .removal_rate = removal_rate,
       .evictions = asked.evictions},
      {.new_share = asked.new_share, .interval = asked.interval_seconds, .delay = asked.delay_seconds});
}

/// Per hour: a node sends one after each interval in which it has sent nothing else.
double heartbeats_between(double seconds_between_deltas, double heartbeat_seconds) {
  if (!std::isfinite(seconds_between_deltas)) return seconds_per_hour / heartbeat_seconds;
  return std::floor(seconds_between_deltas / heartbeat_seconds) * seconds_per_hour / seconds_between_deltas;
}

}  // namespace

Json summary_costs(const Json& fields) {
  Arguments arguments(fields);
  const Question asked = question_of(arguments);
  arguments.refuse_others();
  const Messages messages(asked.shape);
  const double insertion_rate = asked.insertions_per_hour / seconds_per_hour;
  const double removal_rate = asked.removals_per_hour / seconds_per_hour;
  const theory::Staleness staleness = staleness_of(asked, insertion_rate, removal_rate);
  const bool is_sent = std::isfinite(staleness.interval);
  const double added = is_sent ? insertion_rate * staleness.interval : 0;
  const double removed = is_sent ? removal_rate * staleness.interval : 0;
  const std::uint64_t most_added =
      asked.shape.kind() == FilterKind::dleft
          ? asked.shape.num_positions() - std::min(asked.num_keys, asked.shape.num_positions())
          : ~std::uint64_t{0} >> 1;
  const double delta_bytes =
      messages.delta_bytes(asked.num_keys, whole(removed, asked.num_keys), whole(added, most_added));
  const double deltas_per_hour = seconds_per_hour / staleness.interval;
  const double heartbeats_per_hour = heartbeats_between(staleness.interval, asked.heartbeat_seconds);
  const double bytes_per_hour = deltas_per_hour * delta_bytes + heartbeats_per_hour * header_bytes;
  const auto num_peers = static_cast<double>(asked.num_nodes - 1);
  const double rate =
      std::exp(false_positive_law(asked.shape, asked.num_keys, most_steps).ln_false_positive_rate);
  return {{"seconds_between_deltas", staleness.interval},
          {"keys_added_per_delta", added},
          {"keys_removed_per_delta", removed},
          {"delta_bytes", delta_bytes},
          {"full_copy_bytes", messages.full_bytes(asked.num_keys)},
          {"heartbeat_bytes", header_bytes},
          {"deltas_per_hour", deltas_per_hour},
          {"heartbeats_per_hour", heartbeats_per_hour},
          {"bytes_per_hour", bytes_per_hour},
          {"bytes_received_per_hour", bytes_per_hour * num_peers},
          {"bytes_delivered_per_hour", bytes_per_hour * num_peers * static_cast<double>(asked.num_nodes)},
          {"unknown_keys", staleness.unknown_keys},
          {"stale_keys", staleness.stale_keys},
          {"stale_miss_share", staleness.stale_miss_share},
          {"stale_hit_share", staleness.stale_hit_share},
          {"false_positive_rate", rate},
          {"any_false_positive_rate", -std::expm1(num_peers * std::log1p(-rate))}};
}

}  // namespace tally::page
