#include "planner/dleft_moves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "tally/shapes/dleft.hpp"
#include "tally/theory/dleft_placement.hpp"

namespace tally::planner_detail {
namespace {

constexpr std::size_t num_loads = 9;
/// The buckets that a search is counted on to look at independently.
constexpr double sure_visits = 256;

/// theory::dleft_moves_limit at some loads.
struct MovesRow {
  std::uint32_t num_subtables;
  std::uint32_t cells_per_bucket;
  std::array<double, num_loads> loads;  // shares of cells in use
  std::array<double, num_loads> moves;  // moves_probability
  std::array<double, num_loads> rooms;  // room_probability
};

/// Without replacements.
constexpr MovesRow filled_moves[] = {
    {2,
     8,
     {0.7666, 0.8185, 0.8548, 0.8807, 0.8963, 0.9118, 0.9274, 0.9481, 0.9689},
     {0.000153, 0.00669, 0.0378, 0.0946, 0.15, 0.222, 0.315, 0.471, 0.663},
     {0.971, 0.876, 0.751, 0.633, 0.552, 0.466, 0.375, 0.251, 0.128}},
    {3,
     8,
     {0.8680, 0.8973, 0.9179, 0.9325, 0.9413, 0.9501, 0.9589, 0.9707, 0.9824},
     {0.000158, 0.00685, 0.0384, 0.095, 0.149, 0.221, 0.311, 0.464, 0.652},
     {0.850, 0.704, 0.577, 0.478, 0.416, 0.352, 0.288, 0.201, 0.115}},
    {4,
     8,
     {0.9050, 0.9261, 0.9409, 0.9515, 0.9578, 0.9641, 0.9705, 0.9789, 0.9873},
     {0.000152, 0.00679, 0.0382, 0.0951, 0.149, 0.22, 0.311, 0.462, 0.648},
     {0.705, 0.561, 0.452, 0.372, 0.323, 0.274, 0.224, 0.158, 0.093}},
    {2,
     16,
     {0.8822, 0.9083, 0.9267, 0.9398, 0.9476, 0.9555, 0.9633, 0.9738, 0.9843},
     {0.000139, 0.00631, 0.0367, 0.0928, 0.147, 0.219, 0.31, 0.465, 0.656},
     {0.973, 0.885, 0.765, 0.652, 0.576, 0.492, 0.405, 0.282, 0.158}},
    {3,
     16,
     {0.9334, 0.9482, 0.9585, 0.9659, 0.9704, 0.9748, 0.9793, 0.9852, 0.9911},
     {0.000129, 0.00626, 0.036, 0.0913, 0.145, 0.216, 0.307, 0.459, 0.647},
     {0.856, 0.711, 0.586, 0.487, 0.425, 0.362, 0.297, 0.211, 0.124}},
    {4,
     16,
     {0.9519, 0.9626, 0.9701, 0.9754, 0.9786, 0.9818, 0.9850, 0.9893, 0.9936},
     {0.000115, 0.00599, 0.0356, 0.0901, 0.143, 0.213, 0.303, 0.455, 0.645},
     {0.713, 0.568, 0.459, 0.379, 0.330, 0.280, 0.231, 0.164, 0.097}},
    {2,
     32,
     {0.9410, 0.9541, 0.9633, 0.9698, 0.9738, 0.9777, 0.9816, 0.9869, 0.9921},
     {0.000135, 0.00625, 0.0364, 0.0915, 0.146, 0.217, 0.308, 0.463, 0.651},
     {0.974, 0.888, 0.772, 0.663, 0.586, 0.505, 0.420, 0.298, 0.176}},
    {3,
     32,
     {0.9661, 0.9736, 0.9789, 0.9827, 0.9849, 0.9872, 0.9894, 0.9925, 0.9955},
     {8.61e-05, 0.0051, 0.0326, 0.0863, 0.137, 0.208, 0.296, 0.453, 0.643},
     {0.866, 0.723, 0.596, 0.496, 0.436, 0.371, 0.308, 0.218, 0.130}},
    {4,
     32,
     {0.9759, 0.9812, 0.9850, 0.9877, 0.9893, 0.9909, 0.9925, 0.9946, 0.9968},
     {0.000109, 0.00565, 0.0349, 0.0901, 0.143, 0.213, 0.303, 0.451, 0.645},
     {0.714, 0.571, 0.461, 0.379, 0.331, 0.281, 0.232, 0.167, 0.098}},
};

/// After two replacements per key, which is the steady state.
constexpr MovesRow replaced_moves[] = {
    {2,
     8,
     {0.7067, 0.7719, 0.8175, 0.8501, 0.8696, 0.8892, 0.9087, 0.9348, 0.9609},
     {0.00142, 0.0172, 0.055, 0.106, 0.15, 0.205, 0.276, 0.401, 0.574},
     {0.944, 0.836, 0.724, 0.628, 0.565, 0.497, 0.424, 0.317, 0.198}},
    {3,
     8,
     {0.8168, 0.8575, 0.8860, 0.9063, 0.9186, 0.9308, 0.9430, 0.9593, 0.9756},
     {0.00126, 0.0167, 0.0545, 0.106, 0.15, 0.206, 0.278, 0.403, 0.577},
     {0.846, 0.706, 0.590, 0.501, 0.444, 0.387, 0.327, 0.244, 0.155}},
    {4,
     8,
     {0.8658, 0.8956, 0.9165, 0.9314, 0.9404, 0.9493, 0.9583, 0.9702, 0.9821},
     {0.00139, 0.0172, 0.055, 0.106, 0.15, 0.206, 0.278, 0.404, 0.578},
     {0.739, 0.598, 0.490, 0.411, 0.362, 0.313, 0.263, 0.194, 0.122}},
    {2,
     16,
     {0.8429, 0.8778, 0.9023, 0.9197, 0.9302, 0.9407, 0.9511, 0.9651, 0.9791},
     {0.0021, 0.0199, 0.0581, 0.107, 0.149, 0.202, 0.268, 0.387, 0.556},
     {0.939, 0.835, 0.732, 0.644, 0.585, 0.521, 0.453, 0.350, 0.231}},
    {3,
     16,
     {0.9050, 0.9261, 0.9409, 0.9515, 0.9578, 0.9641, 0.9705, 0.9789, 0.9873},
     {0.00147, 0.0177, 0.0557, 0.107, 0.149, 0.204, 0.275, 0.397, 0.567},
     {0.846, 0.709, 0.596, 0.508, 0.454, 0.398, 0.339, 0.256, 0.165}},
    {4,
     16,
     {0.9312, 0.9465, 0.9572, 0.9648, 0.9694, 0.9740, 0.9786, 0.9847, 0.9908},
     {0.00149, 0.0177, 0.0555, 0.106, 0.149, 0.204, 0.275, 0.399, 0.572},
     {0.740, 0.601, 0.495, 0.417, 0.369, 0.320, 0.269, 0.201, 0.127}},
    {2,
     32,
     {0.9181, 0.9363, 0.9491, 0.9582, 0.9636, 0.9691, 0.9745, 0.9818, 0.9891},
     {0.00247, 0.0213, 0.0595, 0.107, 0.147, 0.198, 0.262, 0.377, 0.544},
     {0.938, 0.838, 0.738, 0.654, 0.599, 0.537, 0.471, 0.371, 0.250}},
    {3,
     32,
     {0.9508, 0.9617, 0.9694, 0.9749, 0.9781, 0.9814, 0.9847, 0.9891, 0.9934},
     {0.00125, 0.0163, 0.053, 0.103, 0.143, 0.198, 0.266, 0.388, 0.557},
     {0.855, 0.720, 0.607, 0.520, 0.466, 0.409, 0.350, 0.265, 0.174}},
    {4,
     32,
     {0.9650, 0.9728, 0.9782, 0.9821, 0.9844, 0.9868, 0.9891, 0.9922, 0.9953},
     {0.00145, 0.0175, 0.0545, 0.104, 0.146, 0.203, 0.272, 0.394, 0.566},
     {0.744, 0.605, 0.500, 0.421, 0.374, 0.324, 0.274, 0.205, 0.131}},
};

const MovesRow& row_of(std::uint32_t num_subtables, std::uint32_t cells_per_bucket,
                       bool is_replaced) noexcept {
  return *find_row(is_replaced ? replaced_moves : filled_moves, num_subtables, cells_per_bucket);
}

/// Where x is among the values, which rise: between those at i - 1 and i. The first and the last two go on beyond the ends.
std::size_t place_of(const std::array<double, num_loads>& values, double x) {
  return static_cast<std::size_t>(std::upper_bound(values.begin() + 1, values.end() - 1, x) - values.begin());
}

/// On the straight line through two points.
double on_line(double x, double x1, double x2, double y1, double y2) {
  return y1 + (x - x1) / (x2 - x1) * (y2 - y1);
}

/// An upper limit of the number of distinct fingerprints of these keys. Its mean is what is in use; it varies by about the root of
/// the number of keys that share a fingerprint.
std::uint64_t most_fingerprints(double in_use, std::uint64_t num_keys) {
  constexpr double deviations = 8;
  const double shared = std::max(0.0, static_cast<double>(num_keys) - in_use);
  const double most = std::min(static_cast<double>(num_keys), in_use + deviations * (std::sqrt(shared) + 1));
  return static_cast<std::uint64_t>(std::ceil(most));
}

}  // namespace

double moves_per_insertion(std::uint32_t num_subtables, std::uint32_t cells_per_bucket, bool is_replaced,
                           double load) {
  const MovesRow& row = row_of(num_subtables, cells_per_bucket, is_replaced);
  if (load > row.loads.back()) return 1;
  const std::size_t i = place_of(row.loads, load);
  return std::exp(
      on_line(load, row.loads[i - 1], row.loads[i], std::log(row.moves[i - 1]), std::log(row.moves[i])));
}

double load_with_moves(std::uint32_t num_subtables, std::uint32_t cells_per_bucket, bool is_replaced,
                       double moves) {
  const MovesRow& row = row_of(num_subtables, cells_per_bucket, is_replaced);
  const std::size_t i = place_of(row.moves, moves);
  return on_line(std::log(moves), std::log(row.moves[i - 1]), std::log(row.moves[i]), row.loads[i - 1],
                 row.loads[i]);
}

double refusal_probability_at(std::uint32_t num_subtables, std::uint32_t cells_per_bucket,
                              const Lifetime& lifetime, double load) {
  const std::uint64_t num_parts = lifetime.num_parts;
  const std::uint64_t num_buckets = lifetime.buckets_per_subtable / num_parts;
  const auto parts = static_cast<double>(num_parts);
  const auto operations = static_cast<double>(lifetime.operations);
  if (num_subtables * num_buckets <= most_buckets_searched_all) {
    const auto num_cells = static_cast<double>(num_buckets * num_subtables * cells_per_bucket);
    const double bound = theory::ln_dleft_no_placement_bound(
        num_subtables, num_buckets, cells_per_bucket,
        most_fingerprints(load * num_cells, (lifetime.num_keys + num_parts - 1) / num_parts));
    return std::min(1.0, (operations + 1) * parts * std::exp(bound));
  }
  const MovesRow& row = row_of(num_subtables, cells_per_bucket, lifetime.operations != 0);
  if (load > row.loads.back()) return 1;
  const std::size_t i = place_of(row.loads, load);
  const double room =
      std::min(1.0, on_line(load, row.loads[i - 1], row.loads[i], row.rooms[i - 1], row.rooms[i]));
  const double each = room == 1 ? 0 : std::exp(sure_visits * std::log1p(-room));
  return std::min(1.0, (operations + static_cast<double>(lifetime.num_keys)) * each);
}

bool CarriedLoads::are_carried(double load) const {
  if (is_carried(num_subtables, cells_per_bucket, lifetime, failure_probability, load)) return true;
  if (max_moves_per_insertion == 0 || failure_probability < least_refusal_probability) return false;
  return moves_per_insertion(num_subtables, cells_per_bucket, lifetime.operations != 0, load) <=
             max_moves_per_insertion &&
         refusal_probability_at(num_subtables, cells_per_bucket, lifetime, load) <= failure_probability;
}

double CarriedLoads::largest() const {
  double carried = largest_without_moves();
  if (max_moves_per_insertion == 0 || failure_probability < least_refusal_probability) return carried;
  double too_high =
      load_with_moves(num_subtables, cells_per_bucket, lifetime.operations != 0, max_moves_per_insertion);
  if (are_carried(too_high)) return std::max(carried, too_high);
  for (int i = 0; i < 40 && carried < too_high; ++i) {
    const double middle = 0.5 * (carried + too_high);
    (are_carried(middle) ? carried : too_high) = middle;
  }
  return carried;
}

double CarriedLoads::largest_without_moves() const {
  return carried_load(num_subtables, cells_per_bucket, lifetime, failure_probability);
}

double CarriedLoads::failure_probability_at(double load) const {
  const double without_moves =
      planner_detail::failure_probability_at(num_subtables, cells_per_bucket, lifetime, load);
  if (max_moves_per_insertion == 0) return without_moves;
  return std::max(
      least_refusal_probability,
      std::min(without_moves, refusal_probability_at(num_subtables, cells_per_bucket, lifetime, load)));
}

}  // namespace tally::planner_detail
