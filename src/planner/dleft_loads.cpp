#include "planner/dleft_loads.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include "tally/detail/parameter_error.hpp"
#include "tally/planner/plan_dleft.hpp"

namespace tally::planner_detail {
namespace {

constexpr std::size_t num_nodes = 12;
/// -log10 of the expected number of failures per bucket of a subtable, or per insertion.
constexpr std::array<double, num_nodes> nodes = {1, 2, 3, 4, 6, 9, 12, 16, 20, 25, 30, 36};

struct Row {
  std::uint32_t num_subtables;
  std::uint32_t cells_per_bucket;
  std::array<double, num_nodes> loads;  // shares of cells in use, rounded down
};

/// B = 1 of theory::dleft_expected_overflows_filling: the load at which it is 10^-node.
constexpr Row filled_once[] = {
    {2, 8, {0.9112, 0.8506, 0.8110, 0.7815, 0.7382, 0.6931, 0.6602, 0.6266, 0.6002, 0.5734, 0.5514, 0.5293}},
    {2, 16, {0.9553, 0.9249, 0.9050, 0.8902, 0.8684, 0.8457, 0.8291, 0.8122, 0.7988, 0.7853, 0.7742, 0.7630}},
    {2, 32, {0.9776, 0.9624, 0.9525, 0.9450, 0.9342, 0.9228, 0.9145, 0.9061, 0.8994, 0.8926, 0.8870, 0.8814}},
    {3, 8, {0.9528, 0.9171, 0.8942, 0.8773, 0.8527, 0.8274, 0.8091, 0.7906, 0.7761, 0.7614, 0.7494, 0.7373}},
    {3, 16, {0.9764, 0.9585, 0.9471, 0.9386, 0.9263, 0.9137, 0.9045, 0.8953, 0.8880, 0.8807, 0.8747, 0.8686}},
    {3, 32, {0.9882, 0.9792, 0.9735, 0.9693, 0.9631, 0.9568, 0.9522, 0.9476, 0.9440, 0.9403, 0.9373, 0.9343}},
    {4, 8, {0.9666, 0.9408, 0.9242, 0.9120, 0.8944, 0.8764, 0.8634, 0.8503, 0.8401, 0.8297, 0.8213, 0.8128}},
    {4, 16, {0.9833, 0.9704, 0.9621, 0.9560, 0.9472, 0.9382, 0.9317, 0.9251, 0.9200, 0.9148, 0.9106, 0.9064}},
    {4, 32, {0.9916, 0.9852, 0.9810, 0.9780, 0.9736, 0.9691, 0.9658, 0.9625, 0.9600, 0.9574, 0.9553, 0.9532}},
};

/// theory::dleft_overflow_probability in the steady state: the load at which it is 10^-node, minus 0.0002, because
/// between the nodes the load is slightly below a straight line.
constexpr Row replaced_for_ever[] = {
    {2, 8, {0.8498, 0.7537, 0.6993, 0.6621, 0.6115, 0.5624, 0.5284, 0.4948, 0.4690, 0.4435, 0.4229, 0.4024}},
    {2, 16, {0.9173, 0.8641, 0.8340, 0.8134, 0.7854, 0.7584, 0.7396, 0.7209, 0.7066, 0.6924, 0.6808, 0.6692}},
    {2, 32, {0.9560, 0.9280, 0.9122, 0.9014, 0.8869, 0.8729, 0.8631, 0.8535, 0.8462, 0.8388, 0.8329, 0.8269}},
    {3, 8, {0.9132, 0.8484, 0.8140, 0.7913, 0.7609, 0.7319, 0.7118, 0.6920, 0.6768, 0.6617, 0.6494, 0.6372}},
    {3, 16, {0.9547, 0.9205, 0.9024, 0.8905, 0.8747, 0.8597, 0.8493, 0.8391, 0.8313, 0.8235, 0.8172, 0.8109}},
    {3, 32, {0.9767, 0.9591, 0.9499, 0.9438, 0.9358, 0.9282, 0.9230, 0.9178, 0.9138, 0.9099, 0.9067, 0.9036}},
    {4, 8, {0.9402, 0.8888, 0.8629, 0.8461, 0.8240, 0.8030, 0.7886, 0.7744, 0.7635, 0.7527, 0.7440, 0.7352}},
    {4, 16, {0.9694, 0.9426, 0.9292, 0.9206, 0.9092, 0.8986, 0.8912, 0.8840, 0.8785, 0.8730, 0.8686, 0.8641}},
    {4, 32, {0.9844, 0.9708, 0.9639, 0.9596, 0.9538, 0.9484, 0.9448, 0.9411, 0.9384, 0.9356, 0.9334, 0.9312}},
};

/// A table without moves: the probability of one event, as its node, by the share of cells in use.
class UnmovedTable {
 public:
  UnmovedTable(std::uint32_t num_subtables, std::uint32_t cells_per_bucket, const Lifetime& lifetime)
      : row_(*find_row(lifetime.operations == 0 ? filled_once : replaced_for_ever, num_subtables,
                       cells_per_bucket)),
        lifetime_(lifetime),
        num_cells_(static_cast<double>(lifetime.buckets_per_subtable * num_subtables * cells_per_bucket)) {
    const double num_buckets = static_cast<double>(lifetime.buckets_per_subtable / lifetime.num_parts);
    most_node_of_limit_ = std::max(0.5 + 0.2 * num_subtables * std::log2(num_buckets),
                                   num_subtables * num_subtables * std::log10(num_buckets / 128));
    // d full buckets have d c elements. With one bucket per subtable these are all, and there is no room for more.
    is_never_full_ = lifetime.num_keys <= std::uint64_t{num_subtables} * cells_per_bucket;
    may_always_be_full_ = num_buckets <= 1 && !is_never_full_;
  }

  /// The events that may fail, all with the same probability. Insertions that fill the filter count like those in the
  /// steady state, which fail more often.
  double num_events() const {
    if (lifetime_.operations == 0) return static_cast<double>(lifetime_.buckets_per_subtable);
    return static_cast<double>(lifetime_.operations) + static_cast<double>(lifetime_.num_keys);
  }

  double failure_probability_at(double load) const {
    if (is_never_full_) return least_probability;
    const double node = node_at(load);
    if (node < nodes.front()) return 1;
    return std::max(-std::expm1(-num_events() * std::pow(10, -node)), least_probability);
  }

  bool carries(double load, double failure_probability) const {
    return is_never_full_ || node_at(load) >= node_of(failure_probability);
  }

  double carried_load(double failure_probability) const {
    if (is_never_full_) return 1;
    double carried = 0;
    double too_high = row_.loads.front();
    if (carries(too_high, failure_probability)) return too_high;
    for (int i = 0; i < 50; ++i) {
      const double middle = 0.5 * (carried + too_high);
      (carries(middle, failure_probability) ? carried : too_high) = middle;
    }
    return carried;
  }

 private:
  static constexpr double least_probability = 1e-36;

  double node_of(double failure_probability) const {
    const double node = -std::log10(-std::log1p(-failure_probability) / num_events());
    return std::clamp(node, nodes.front(), nodes.back());
  }

  double node_at(double load) const {
    if (load > row_.loads.front() || may_always_be_full_) return 0;
    const auto num_keys = static_cast<double>(lifetime_.num_keys);
    const double num_shared = num_keys - load * num_cells_;
    const Node node = node_of_elements(load);
    if (num_shared <= 0) return std::min(node.at, nodes.back());
    // The number of elements varies, because keys share fingerprints at random: by a variance of at most the number of keys that
    // do. The logarithm of the probability is concave in it, so a normal number of elements raises the mean of the probability
    // at most as on the tangent. There are never more elements than keys.
    const double slope = node.per_element * std::log(10);
    const double mean = node.at - slope * slope * num_shared / (2 * std::log(10) * num_parts());
    return std::min(std::max(mean, node_of_elements(num_keys / num_cells_).at), nodes.back());
  }

  struct Node {
    double at;
    double per_element;  ///< by which an element in one of the parts lowers it
  };

  /// The law of few buckets, for a fixed number of elements.
  Node node_of_elements(double load) const {
    const auto& loads = row_.loads;
    if (load > loads.front()) return {0, 0};
    // Loads are almost linear in the logarithm of the node, also beyond the last one.
    std::size_t i = 1;
    while (i + 1 < num_nodes && load < loads[i]) ++i;
    const double per_load = std::log(nodes[i] / nodes[i - 1]) / (loads[i - 1] - loads[i]);
    const double of_limit = nodes[i - 1] * std::exp((loads[i - 1] - load) * per_load);
    const double most = most_node_of_limit_;
    return {of_limit <= most ? of_limit : most * (1 + std::log(of_limit / most)),
            std::min(of_limit, most) * per_load * num_parts() / num_cells_};
  }

  double num_parts() const { return static_cast<double>(lifetime_.num_parts); }

  const Row& row_;
  Lifetime lifetime_;
  double num_cells_;
  double most_node_of_limit_;
  bool is_never_full_;
  bool may_always_be_full_;
};

}  // namespace

bool is_planned_layout(std::uint32_t num_subtables, std::uint32_t cells_per_bucket) noexcept {
  return find_row(filled_once, num_subtables, cells_per_bucket) != nullptr;
}

double carried_load(std::uint32_t num_subtables, std::uint32_t cells_per_bucket, const Lifetime& lifetime,
                    double failure_probability) {
  return UnmovedTable(num_subtables, cells_per_bucket, lifetime).carried_load(failure_probability);
}

bool is_carried(std::uint32_t num_subtables, std::uint32_t cells_per_bucket, const Lifetime& lifetime,
                double failure_probability, double load) {
  return UnmovedTable(num_subtables, cells_per_bucket, lifetime).carries(load, failure_probability);
}

double failure_probability_at(std::uint32_t num_subtables, std::uint32_t cells_per_bucket,
                              const Lifetime& lifetime, double load) {
  return UnmovedTable(num_subtables, cells_per_bucket, lifetime).failure_probability_at(load);
}

}  // namespace tally::planner_detail

namespace tally {

namespace {

void check_planned_layout(std::string_view structure, std::uint32_t num_subtables,
                          std::uint64_t buckets_per_subtable, std::uint32_t cells_per_bucket) {
  if (!planner_detail::is_planned_layout(num_subtables, cells_per_bucket)) {
    detail::throw_parameter_error(structure, "num_subtables x cells_per_bucket",
                                  std::to_string(num_subtables) + " x " + std::to_string(cells_per_bucket),
                                  "2, 3 or 4 x 8, 16 or 32");
  }
  detail::require_in_range(structure, "buckets_per_subtable", buckets_per_subtable, 1, max_num_buckets);
}

}  // namespace

double planned_dleft_load(std::uint32_t num_subtables, std::uint64_t buckets_per_subtable,
                          std::uint32_t cells_per_bucket, std::uint64_t num_keys,
                          std::uint64_t lifetime_operations, double failure_probability) {
  constexpr std::string_view structure = "planned_dleft_load";
  check_planned_layout(structure, num_subtables, buckets_per_subtable, cells_per_bucket);
  detail::require_in_range(structure, "failure_probability", failure_probability, 1e-15, 0.5);
  return planner_detail::carried_load(num_subtables, cells_per_bucket,
                                      {buckets_per_subtable, num_keys, lifetime_operations},
                                      failure_probability);
}

double planned_dleft_failure_probability(std::uint32_t num_subtables, std::uint64_t buckets_per_subtable,
                                         std::uint32_t cells_per_bucket, std::uint64_t num_keys,
                                         std::uint64_t lifetime_operations, double load) {
  constexpr std::string_view structure = "planned_dleft_failure_probability";
  check_planned_layout(structure, num_subtables, buckets_per_subtable, cells_per_bucket);
  detail::require_in_range(structure, "load", load, 0.0, 1.0);
  return planner_detail::failure_probability_at(num_subtables, cells_per_bucket,
                                                {buckets_per_subtable, num_keys, lifetime_operations}, load);
}

}  // namespace tally
