#include "commands/uniq_explain.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "tally/hashing/key_hasher.hpp"
#include "tally/planner/scheme_law.hpp"
#include "tally/sets/hash_set.hpp"
#include "tally/sets/recent_keys.hpp"
#include "text/explanation.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

/// Of a set that has grown.
double bytes_per_digest() {
  constexpr std::uint64_t num_keys = 200'000;
  HashSet set;
  const KeyHasher hasher(0);
  for (std::uint64_t key = 0; key < num_keys; ++key) (void)set.insert(hasher(key));
  return static_cast<double>(set.num_bytes()) / static_cast<double>(num_keys);
}

}  // namespace

ExitCode explain_exact_uniq(std::optional<std::uint64_t> memory_bytes, std::string_view exception) {
  const HashSet empty(memory_bytes.value_or(std::numeric_limits<std::uint64_t>::max()));
  const double bytes = bytes_per_digest();
  const std::string limit =
      memory_bytes
          ? fmt::format(
                "never more than {}, which is enough for about {} distinct keys. When it is full, the run "
                "ends with an error; what it has printed is right",
                exact_bytes(*memory_bytes), human_count(static_cast<double>(*memory_bytes) / bytes))
          : "without a limit: --memory sets one";
  print_explanation(
      fmt::format("Keeps a digest of each distinct key, and no key. Memory: {} at the start, then about "
                  "{:.0f} bytes for each "
                  "distinct key, {}. No key is printed twice. A new key is dropped only if its digest is "
                  "that of an earlier key: with "
                  "probability 2^-96 for any two keys{}.",
                  exact_bytes(empty.num_bytes()), bytes, limit, exception));
  return ExitCode::success;
}

ExitCode explain_approximate_uniq(const Planned& planned, std::string_view exception) {
  const FilterShape& shape = planned.shape;
  const auto num_keys = static_cast<std::uint64_t>(planned.num_keys);
  const double rate =
      std::exp(false_positive_law(shape.scheme_id, shape.num_positions(), shape.num_hashes(), num_keys, 0)
                   .ln_false_positive_rate);
  print_explanation(fmt::format(
      "Keeps a Bloom filter of {} bits, {} of them for each key, planned for {} distinct keys, and no key. "
      "Memory: {}, "
      "which does not grow. No key is printed twice. A new key is dropped with a probability that is {} when "
      "{} distinct "
      "keys have been read, and less before{}. With more keys it grows; the run prints it at its end.",
      human_count(static_cast<double>(shape.num_positions())), shape.num_hashes(),
      human_count(planned.num_keys), exact_bytes(shape.num_bytes()), human_rate(rate),
      human_count(planned.num_keys), exception));
  return ExitCode::success;
}

ExitCode explain_forgetful_uniq(std::uint64_t memory_bytes, std::string_view exception) {
  const RecentKeys recent(memory_bytes);
  print_explanation(
      fmt::format("Keeps digests of recent keys, and no key. Memory: {}, which does not grow. No key is "
                  "dropped{}. When the memory is "
                  "full, old digests make room for new ones, and a key whose digest was forgotten is printed "
                  "again; the run prints at "
                  "its end how many were forgotten.",
                  exact_bytes(recent.num_bytes()), exception));
  return ExitCode::success;
}

}  // namespace tally::cli
