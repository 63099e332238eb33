#include "reported_keys.hpp"

namespace tally::cli {

void ReportedKeys::remember(std::span<const Hash128> digests) {
  for (const Hash128 digest : digests) set_.prefetch(digest);
  for (const Hash128 digest : digests) (void)put_into_set(digest);
}

void ReportedKeys::begin_batch_after(std::uint64_t num_in_set) {
  first_since_lookup_ = num_in_set;
  first_of_batch_ = latest_.size();
  latest_.drop_before(num_in_set);
}

HashSet::Outcome ReportedKeys::add(Hash128 digest) {
  const HashSet::Outcome outcome = remembers_at_once_ ? put_into_set(digest) : HashSet::Outcome::inserted;
  if (outcome == HashSet::Outcome::inserted) latest_.add(digest);
  return outcome;
}

HashSet::Outcome ReportedKeys::put_into_set(Hash128 digest) {
  HashSet::Outcome outcome = set_.insert(digest);
  while (outcome == HashSet::Outcome::full && set_.try_grow(digest)) outcome = set_.insert(digest);
  return outcome;
}

}  // namespace tally::cli
