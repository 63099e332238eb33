#include "planner/conservative.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "planner/conservative_simulation.hpp"
#include "tally/theory/conservative_update.hpp"

namespace tally::planner_detail {
namespace {

constexpr std::uint64_t most_predicted_theta = 16;
constexpr std::uint32_t most_predicted_hashes = 64;
constexpr std::uint64_t least_predicted_counters = 4096;
constexpr double closest_size = 1.001;  // sizes that differ by less are not compared

double promised_rate(double predicted) {
  return std::clamp(conservative_margin * predicted, least_conservative_rate, 1.0);
}

/// ln of the promised rate at each size, at most that of plain counters.
class ConservativeRate {
 public:
  ConservativeRate(const Law& plain, const theory::CountHistogram& histogram, std::uint64_t theta,
                   std::uint64_t true_count, std::uint64_t num_keys)
      : plain_(plain), histogram_(histogram), theta_(theta), true_count_(true_count), num_keys_(num_keys) {}

  double operator()(std::uint64_t m, std::uint32_t k) const {
    const double plain = plain_.ln_rate(m, k, num_keys_);
    if (k > most_predicted_hashes || m < least_predicted_counters) return plain;
    const double predicted =
        theory::conservative_threshold_false_positive_probability(histogram_, theta_, k, m, true_count_);
    if (std::log(promised_rate(predicted)) >= plain) return plain;
    const ConservativeSimulation simulation(histogram_, theta_, k, m);
    return std::min(plain, std::log(simulation.at_least(promised_rate(predicted), true_count_)));
  }

 private:
  const Law& plain_;
  const theory::CountHistogram& histogram_;
  std::uint64_t theta_;
  std::uint64_t true_count_;
  std::uint64_t num_keys_;
};

/// The k near `start` with the least cost(k), which falls and then rises.
template <class Cost>
std::uint32_t least_near(std::uint32_t start, std::uint32_t step, std::uint32_t most, Cost cost) {
  std::uint32_t best = start;
  double least = cost(start);
  for (const bool up : {true, false}) {
    while (up ? best + step <= most : best > step) {
      const std::uint32_t next = up ? best + step : best - step;
      const double found = cost(next);
      if (!(found < least)) break;
      best = next;
      least = found;
    }
    if (best != start) break;
  }
  return best;
}

}  // namespace

bool can_predict_conservative(const theory::CountHistogram& histogram, std::uint64_t theta) noexcept {
  return theta >= 2 && theta <= most_predicted_theta &&
         (histogram.keys_beyond == 0 || theta <= histogram.keys_with_count.size());
}

Solution improved_by_conservative_update(const Solution& plain_solution, const Law& plain,
                                         const theory::CountHistogram& histogram, std::uint64_t theta,
                                         std::uint64_t true_count, const Wanted& wanted,
                                         std::uint32_t counter_bits) {
  Solution found = plain_solution;
  if (!can_predict_conservative(histogram, theta) || found.num_positions < 2 * least_predicted_counters)
    return found;
  const ConservativeRate rate(plain, histogram, theta, true_count, found.num_keys);
  const std::uint32_t most_hashes = std::min(plain.max_hashes, most_predicted_hashes);
  if (found.num_hashes > most_hashes) return found;
  if (wanted.memory_bytes) {
    const std::uint64_t m = positions_in(*wanted.memory_bytes, counter_bits);
    found.num_hashes = least_near(found.num_hashes, plain.hashes_step, most_hashes, [&](std::uint32_t k) {
      return rate(plain.round(m, k, Rounding::down), k);
    });
    found.num_positions = plain.round(m, found.num_hashes, Rounding::down);
    return found;
  }
  const auto meets = [&](std::uint64_t m, std::uint32_t k) {
    return rate(plain.round(m, k, Rounding::up), k) <= *wanted.ln_rate;
  };
  // The least number of counters for k, as a real number; infinite if it is not below that of plain counters.
  const auto size_for = [&](std::uint32_t k) {
    auto high = static_cast<double>(found.num_positions);
    if (!meets(found.num_positions, k)) return std::numeric_limits<double>::infinity();
    double low = static_cast<double>(least_predicted_counters);
    if (meets(least_predicted_counters, k)) return low;
    while (high > closest_size * low) {
      const double middle = std::sqrt(low * high);
      (meets(static_cast<std::uint64_t>(middle), k) ? high : low) = middle;
    }
    return high;
  };
  const std::uint32_t k = least_near(found.num_hashes, plain.hashes_step, most_hashes, size_for);
  const auto m = static_cast<std::uint64_t>(std::ceil(size_for(k)));
  const std::uint64_t usable = plain.round(m, k, Rounding::up);
  if (usable < found.num_positions && rate(usable, k) <= *wanted.ln_rate) {
    found.num_positions = usable;
    found.num_hashes = k;
  }
  return found;
}

std::vector<double> promised_conservative_rates(const theory::CountHistogram& histogram, std::uint64_t theta,
                                                std::uint64_t m, std::uint32_t k) {
  if (!can_predict_conservative(histogram, theta) || k > most_predicted_hashes ||
      m < least_predicted_counters)
    return {};
  std::vector<double> rates =
      theory::conservative_threshold_false_positive_probabilities(histogram, theta, k, m);
  const ConservativeSimulation simulation(histogram, theta, k, m);
  for (std::size_t true_count = 0; true_count < rates.size(); ++true_count) {
    const double promised = simulation.at_least(promised_rate(rates[true_count]), true_count);
    rates[true_count] = true_count == 0 ? promised : std::max(promised, rates[true_count - 1]);
  }
  return rates;
}

}  // namespace tally::planner_detail
