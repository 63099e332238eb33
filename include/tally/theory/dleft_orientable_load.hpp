#pragma once

#include <cstdint>

#include "tally/export.hpp"

namespace tally::theory {

/// The largest average load, in elements per bucket, at which all elements can be placed if elements may be moved without
/// limit between their d buckets of c cells, in the limit of many buckets: the threshold of c-orientability of random d-uniform
/// hypergraphs,
///
///     xi / (d Q(xi, c)^(d - 1)),    xi Q(xi, c) / Q(xi, c + 1) = d c,    Q(x, y) = Pr(Poisson(x) >= y)
///
/// Divide by c for the fraction of the cells. Below it almost all tables have a placement, above it almost none. That is a
/// theorem for d buckets drawn from all; that one bucket in each of d subtables has the same threshold is an assumption. What
/// moves reach falls short of it by the search and in small tables: see docs/theory.md. d 2 to 8, c 1 to 255; else
/// std::invalid_argument.
/// @source Fountoulakis, Khosla, Panagiotou, "The Multiple-orientability Thresholds for Random Hypergraphs" (2011);
/// Lelarge (2012); for d = 2 Fernholz and Ramachandran, and Cain, Sanders, Wormald (2007)
TALLY_EXPORT double dleft_orientable_load(std::uint32_t d, std::uint32_t c);

}  // namespace tally::theory
