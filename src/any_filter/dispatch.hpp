#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "tally/any_filter.hpp"
#include "tally/detail/parameter_error.hpp"

namespace tally::detail {

/// Whether the filter has cells, and a side table: a d-left filter or a compact one.
template <class Filter>
inline constexpr bool has_cells = has_side_table<std::remove_cvref_t<Filter>>;

/// Calls operate(filter, digest) with the filter inside. The halves of the digest are handed over by reference each:
/// one read of both, right after they were written one by one, would make the processor wait.
template <class Variant, class Operate>
decltype(auto) visit_with(Variant& filters, Hash128 digest, Operate operate) {
  const std::uint64_t low = digest.low;
  const std::uint64_t high = digest.high;
  return std::visit(
      [&low, &high, &operate](auto& filter) -> decltype(auto) {
        return operate(filter, Hash128{low, high});
      },
      filters);
}

/// Throws std::invalid_argument that lists the kinds that `can`: "remove: a bloom filter does not support this; use a
/// counting-bloom or dleft filter".
[[noreturn]] inline void throw_unsupported(std::string_view operation, FilterKind kind,
                                           bool KindTraits::*can) {
  std::string kinds;
  std::size_t before_last = 0;
  for (const KindTraits& other : all_kinds()) {
    if (!(other.*can)) continue;
    before_last = kinds.size();
    kinds.append(kinds.empty() ? "" : ", ").append(other.name);
  }
  if (before_last != 0) kinds.replace(before_last, 1, " or");
  std::string message(operation);
  message.append(": a ").append(name_of(kind)).append(" filter does not support this; use a ").append(kinds);
  throw std::invalid_argument(message.append(" filter"));
}

}  // namespace tally::detail
