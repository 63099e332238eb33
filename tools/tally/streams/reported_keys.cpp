#include "streams/reported_keys.hpp"

namespace tally::cli {

void ReportedKeys::remember(std::span<const Hash128> digests) {
  for (const Hash128 digest : digests) set_.prefetch(digest);
  for (const Hash128 digest : digests) (void)set_.insert_growing(digest);
}

void ReportedKeys::begin_batch_after(std::uint64_t num_in_set) {
  first_since_lookup_ = num_in_set;
  first_of_batch_ = latest_.size();
  latest_.drop_before(num_in_set);
}

// First of all the memory: a digest that is in the set and was not reported would never be.
HashSet::Outcome ReportedKeys::add(Hash128 digest) {
  latest_.make_room();
  const HashSet::Outcome outcome =
      remembers_at_once_ ? set_.insert_growing(digest) : HashSet::Outcome::inserted;
  if (outcome == HashSet::Outcome::inserted) latest_.add(digest);
  return outcome;
}

}  // namespace tally::cli
