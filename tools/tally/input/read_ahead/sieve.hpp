#pragma once

#include <cstddef>

#include "input/read_ahead/pieces.hpp"
#include "input/read_ahead/work_for_two.hpp"

namespace tally::cli {

/// Whether the second thread sieves all pieces, in the order of the input; else each is sieved by the thread that hashes it.
inline bool is_sieved_in_order(const WorkForTwo& work) {
  return work.find_absent != nullptr && !work.in_any_order;
}

/// Of the keys from number `begin` on, keeps those that are absent; after a failure none.
void sieve(const WorkForTwo& work, Piece& piece, std::size_t begin);

}  // namespace tally::cli
