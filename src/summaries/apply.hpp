#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "summaries/message_parts.hpp"
#include "tally/summaries/status.hpp"

// What a message does to a copy: the common rules of SummaryReplica and SummarySet.

namespace tally::detail {

enum class Step {
  ignore,      ///< older than what is held, or a repetition
  confirm,     ///< the copy is the message's version already
  take_full,   ///< the message has all units
  take_delta,  ///< the message starts from the version held
  behind       ///< something is missing
};

/// `layout` is that of the units held, if any.
inline Step next_step(const SummaryMessage& message, const SummaryStatus& status,
                      const SummaryLayout* layout) noexcept {
  if (message.kind == SummaryMessageKind::request || message.version < status.held) return Step::ignore;
  const bool is_same_layout = layout != nullptr && *layout == message.layout;
  const bool is_same = is_same_layout && message.digest == status.digest;
  if (message.kind != SummaryMessageKind::delta) {
    // Digests distinguish versions: a publisher that restarts with the same contents needs to send no copy.
    if (is_same) return Step::confirm;
    return message.kind == SummaryMessageKind::full ? Step::take_full : Step::behind;
  }
  if (message.version == status.held) return is_same ? Step::ignore : Step::behind;
  const bool follows =
      message.version.epoch == status.held.epoch && message.from_sequence == status.held.sequence;
  return follows && is_same_layout && !status.has_diverged ? Step::take_delta : Step::behind;
}

/// Reserves memory for the units with which `each(visit)` calls visit(unit), where units are reserved.
template <class Units, class Each>
void reserve_units(Units& units, Each each) {
  if constexpr (requires { units.reserve(each); }) units.reserve(each);
}

/// Applies the changes to units that have get(unit) and put(unit, value), and perhaps reserve(each), which may
/// throw. Returns false and changes nothing if the result would not be the publisher's version.
template <class Units>
bool apply_delta(const SummaryMessage& message, SummaryStatus& status, Units&& units) {
  const bool has_cells = message.layout.has_cells();
  const auto for_each = [&](auto use) {
    (void)read_units(message, [&](std::uint64_t unit, std::uint32_t value) {
      const std::uint32_t was = units.get(unit);
      use(unit, was, has_cells ? value : 1 - was);
    });
  };
  std::uint64_t digest = status.digest;
  std::uint64_t num_nonzero = status.num_nonzero;
  for_each([&](std::uint64_t unit, std::uint32_t was, std::uint32_t is) {
    digest ^= unit_digest(unit, was) ^ unit_digest(unit, is);
    num_nonzero += std::uint64_t{is != 0} - std::uint64_t{was != 0};
  });
  if (digest != message.digest) return false;
  reserve_units(units, [&](auto visit) {
    for_each([&](std::uint64_t unit, std::uint32_t, std::uint32_t is) {
      if (is != 0) visit(unit);
    });
  });
  for_each([&](std::uint64_t unit, std::uint32_t, std::uint32_t is) { units.put(unit, is); });
  status.digest = digest;
  status.num_nonzero = num_nonzero;
  return true;
}

/// Applies the message. `units()` returns the copy's units; `fresh_units()` sets them all to 0 in the
/// message's layout, and may throw after changing nothing. `layout` as above.
template <class UnitsOf, class FreshUnits>
ApplyResult apply_message(const SummaryMessage& message, SummaryStatus& status, const SummaryLayout* layout,
                          UnitsOf units, FreshUnits fresh_units) {
  Step step = next_step(message, status, layout);
  if (step == Step::take_full) {
    auto&& fresh = fresh_units();
    (void)read_units(message, [&](std::uint64_t unit, std::uint32_t value) { fresh.put(unit, value); });
    status.digest = message.digest;
    status.num_nonzero = message.num_changes;
  } else if (step == Step::take_delta && !apply_delta(message, status, units())) {
    step = Step::behind;
    status.has_diverged = true;
  }
  if (step == Step::ignore) {
    if (message.kind != SummaryMessageKind::request && message.version.epoch < status.held.epoch) {
      status.is_contradicted = true;
    }
    return status.needs_full() ? ApplyResult::behind : ApplyResult::unchanged;
  }
  status.newest = std::max(status.newest, message.version);
  if (step == Step::behind) {
    if (message.version == status.held) status.has_diverged = true;
    return ApplyResult::behind;
  }
  const bool is_new = step != Step::confirm || status.held != message.version || status.has_diverged;
  status.held = message.version;
  status.has_diverged = status.is_contradicted = false;
  if (status.held == status.newest) status.as_of = std::max(status.as_of, message.published_at);
  return is_new ? ApplyResult::applied : ApplyResult::unchanged;
}

}  // namespace tally::detail
