#include "tally/summaries/send_policy.hpp"

#include <algorithm>
#include <cmath>

#include "tally/detail/parameter_error.hpp"

namespace tally {

std::uint64_t PendingChanges::estimated_bytes() const noexcept {
  if (num_changed_units == 0 || num_units == 0) return 0;
  const auto changes = static_cast<double>(std::min(num_changed_units, num_units));
  const double bits_of_position = std::log2(2.718281828459045 * static_cast<double>(num_units) / changes);
  const double bits_of_value = unit_bits > 1 ? unit_bits : 0;
  return static_cast<std::uint64_t>(std::ceil(changes * (bits_of_position + bits_of_value) / 8));
}

void SendPolicy::check() const {
  if (!(share_of_new_keys >= 0)) {
    detail::throw_parameter_error("SendPolicy", "share_of_new_keys", share_of_new_keys,
                                  "0 (every change) or more");
  }
  detail::require_in_range<std::int64_t>("SendPolicy", "interval in microseconds", interval.count(), 1,
                                         std::chrono::microseconds::max().count());
  detail::require_in_range<std::uint64_t>("SendPolicy", "num_bytes", num_bytes, 1, ~std::uint64_t{0});
}

bool SendPolicy::is_due(const PendingChanges& pending,
                        std::chrono::microseconds since_last_version) const noexcept {
  if (!pending.any()) return false;
  const auto changed = static_cast<double>(std::max(pending.num_inserted, pending.num_removed));
  return changed >= share_of_new_keys * static_cast<double>(pending.num_keys) ||
         since_last_version >= interval || pending.estimated_bytes() >= num_bytes;
}

}  // namespace tally
