#include "tally/detail/sketches/count_min_loops.hpp"

namespace tally::detail {

template struct CountMinLoops<CongruentialRows>;
template struct CountMinLoops<IndependentRows>;
template struct CountMinLoops<PairwiseRows>;
template struct CountMinLoops<TwoHashRows>;

}  // namespace tally::detail
