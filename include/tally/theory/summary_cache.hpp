#pragma once

#include <cstdint>
#include <limits>

#include "tally/export.hpp"

namespace tally::theory {

/// Summaries that are sent to other nodes: what a delta must contain, and how stale a replica is.
///
/// A directory has n keys when a message is sent; before the next message r of them are removed and a others
/// are inserted. m is the number of bits of its Bloom filter (at least 1), k the number of hash functions (1
/// to 1024). r is at most n, a any number. Anything else throws std::invalid_argument.

/// Expected share of the bits that differ between the two messages:
///
///     q = z(n - r) [z(r) (1 - z(a)) + z(a) (1 - z(r))],     z(j) = (1 - 1/m)^(k j)
///
/// A bit flips if no remaining key has it, and either a removed key had it or a new key has it, but not both.
/// Exact for k independent uniform positions per key and counters that never saturate; relative accuracy also
/// for the smallest shares. For few changes about kappa exp(-kappa) (r + a)/n, kappa = k n/m.
/// @source ours, from the filter of Fan et al., 'Summary Cache'
TALLY_EXPORT double flipped_share(std::uint64_t m, std::uint32_t k, std::uint64_t n, std::uint64_t r,
                                  std::uint64_t a);

/// The same with z(j) = exp(-k j/m): the k j increments of a counter are Poisson. For large m.
TALLY_EXPORT double flipped_share_approximate(std::uint64_t m, std::uint32_t k, std::uint64_t n,
                                              std::uint64_t r, std::uint64_t a);

/// H(q) = -q log2 q - (1 - q) log2(1 - q), in bits. q in [0, 1].
TALLY_EXPORT double binary_entropy(double q);

/// m H(q) bits: no code for m independent positions, each of which flipped with probability q, is shorter on average.
/// The flips of a Bloom filter are nearly independent. q in [0, 1].
TALLY_EXPORT double least_delta_bits(std::uint64_t m, double q);

/// Bits per flipped position in a Rice code of the gaps between positions: b + 1/(1 - (1 - q)^(2^b)), where a
/// gap g is coded as g >> b in unary and b low bits. q in (0, 1], b 0 to 63.
/// @source Golomb 1966; Rice 1979; the mean of a geometric distribution
TALLY_EXPORT double rice_bits_per_position(double q, std::uint32_t b);

/// The b with the fewest bits: the smallest one with (1 - q)^(2^b) at most (sqrt(5) - 1)/2. q in (0, 1].
TALLY_EXPORT std::uint32_t best_rice_parameter(double q);

/// Expected bits of the m q flipped positions at the best b; 0 for q = 0. At most 4.3% above least_delta_bits
/// for q up to 1/2; at most 0.121 bits per position above it for q up to 1/1000. q in [0, 1].
TALLY_EXPORT double rice_delta_bits(std::uint64_t m, double q);

/// Cells of a d-left table that differ between the two messages, with the changes evenly mixed:
///
///     a + V,     V = E' - E exp(-a ln(E'/E)/(E' - E)),     or E (1 - exp(-r/E)) for a = r
///
/// There are E empty cells at the start and E' = E + r - a at the end. V of the vacated cells are still
/// empty; this treats every empty cell as equally likely to be filled. A real filter fills the least loaded
/// bucket, and vacated cells sooner: 4 x 8 cells at load 6 change 1% fewer if 1% of the keys are replaced, and
/// 11% fewer if 10% are. r + a is a bound. Keys that share a fingerprint change a counter, which also changes
/// a cell.
/// @param cells  of the whole table, at least n and n - r + a
/// @source ours
TALLY_EXPORT double dleft_changed_cells(std::uint64_t cells, std::uint64_t n, std::uint64_t r,
                                        std::uint64_t a);

/// C H(x/C) + x cell_bits for x changed cells of C: their indices, and the new value of each, including empty
/// ones. x at most C, cell_bits 0 to 64.
TALLY_EXPORT double dleft_delta_bits(std::uint64_t cells, double changed_cells, std::uint32_t cell_bits);

/// The minimum that a receiver with the previous table must get, in bits, with V as above:
///
///     n H(r/n) + E H((a - r + V)/E) + r H(V/r) + a remainder_bits
///
/// which cells were vacated, which empty ones were filled, which vacated ones are still empty, and new
/// remainders. Counts of shared fingerprints are left out: a share n/(B R) of the keys. remainder_bits 0 to
/// 64.
/// @source ours
TALLY_EXPORT double dleft_least_delta_bits(std::uint64_t cells, std::uint64_t n, std::uint64_t r,
                                           std::uint64_t a, std::uint32_t remainder_bits);

inline constexpr double never = std::numeric_limits<double>::infinity();

/// How a directory changes. Rates are per second; times may be in any unit that is used throughout.
struct DirectoryChange {
  double num_keys = 0;        ///< n, on average: at least 1
  double insertion_rate = 0;  ///< keys that are inserted
  double removal_rate = 0;    ///< keys that are removed
  /// Whether keys are removed only when one is inserted (a full cache), where each insertion removes
  /// removal_rate / insertion_rate keys, or at any time (a lifetime).
  bool evictions = true;
  double new_key_popularity = 1;      ///< requests for an unpublished key, relative to an average key
  double removed_key_popularity = 1;  ///< requests for a removed key that is still published, likewise
};

/// When a message is sent: at the first of three limits, measured from the previous message. Each may be
/// `never`, but not all.
struct SendLimits {
  double new_share = never;  ///< new keys over n: 0 means at once, after every insertion
  double interval = never;   ///< time; if nothing changed, nothing is sent and the interval restarts
  double max_bytes = never;  ///< of the message that would be sent
  double header_bytes = 0;   ///< of every message
  double bytes_per_change =
      0;             ///< of a message, for each inserted or removed key: rice_delta_bits over r + a, by 8
  double delay = 0;  ///< from sending until the replica has it
};

/// What a replica does not know, on average over time, and the bytes that it is sent.
struct Staleness {
  double interval = 0;          ///< mean time between two sending moments
  double unknown_keys = 0;      ///< keys in the directory that the replica cannot know, on average
  double stale_keys = 0;        ///< removed keys that the replica still reports, on average
  double stale_miss_share = 0;  ///< of the requests for keys in the directory: those for unknown ones
  double stale_hit_share =
      0;                  ///< requests for removed keys it reports, over requests for keys in the directory
  double bytes_rate = 0;  ///< bytes per unit of time, to one replica
};

/// The average staleness of a replica when insertions are a Poisson process. N is the smallest number of new
/// keys that reaches a limit, X ~ Poisson(insertion_rate interval), M = min(X, N):
///
///     keys that wait for a message       E[M (M - 1)]/(2 E[M]);     N alone: (N - 1)/2;   interval T alone: rate T/2
///     time between sending moments       E[M]/insertion_rate
///     removals of any time wait          E[Y (Y + 1)]/(2 E[M] insertion_rate), Y = min(N, max(X - 1, 0))
///
/// Keys in transit (rate x delay) are added. Neglected: keys that are inserted and removed between two
/// messages, so unknown keys should be few compared with n; and that fewer bits flip when there are many
/// (bytes_per_change is constant). Shares are at most 1.
/// @source ours, for the policy of Fan et al. (send when a share of the keys is new)
/// @throws std::invalid_argument for a rate, time or size that is negative, infinite (limits may be) or NaN
TALLY_EXPORT Staleness summary_staleness(const DirectoryChange& change, const SendLimits& limits);

}  // namespace tally::theory
