#include "tally/streams/reported_keys.hpp"

namespace tally {

void ReportedKeys::remember(std::span<const Hash128> digests) {
  for (const Hash128 digest : digests) set_.prefetch(digest);
  for (const Hash128 digest : digests) (void)set_.insert(digest);
}

void ReportedKeys::begin_batch_after(std::uint64_t num_in_set) {
  first_since_lookup_ = num_in_set;
  first_of_batch_ = latest_.size();
  latest_.drop_before(num_in_set);
}

// Memory is allocated first: a digest that got into the set without being reported would never be reported.
HashSet::Outcome ReportedKeys::add(Hash128 digest) {
  latest_.make_room();
  const HashSet::Outcome outcome = remembers_at_once_ ? set_.insert(digest) : HashSet::Outcome::inserted;
  if (outcome == HashSet::Outcome::inserted) latest_.add(digest);
  return outcome;
}

}  // namespace tally
