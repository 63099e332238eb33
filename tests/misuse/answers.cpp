// Answers that decide whether keys are kept, and answers that are the only effect of a call.

#include <vector>

#include "tally/any_filter.hpp"
#include "tally/any_filter/similarity.hpp"
#include "tally/filters/aging_bloom.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/filters/compact_dleft.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/filters/dleft_counting_bloom.hpp"
#include "tally/hashing/random_seed.hpp"
#include "tally/planner/plan.hpp"
#include "tally/planner/plan_count_min.hpp"
#include "tally/planner/plan_dleft.hpp"
#include "tally/planner/plan_shares.hpp"
#include "tally/serialization/mapped_filter.hpp"
#include "tally/sets/hash_set.hpp"
#include "tally/sets/recent_keys.hpp"
#include "tally/sets/shared_entry_counts.hpp"
#include "tally/sets/shared_entry_set.hpp"
#include "tally/sketches/count_min.hpp"
#include "tally/sketches/space_saving.hpp"
#include "tally/sketches/top_keys.hpp"

void use(tally::HashSet& set, tally::RecentKeys& recent, tally::SharedEntrySet& entries,
         tally::SharedEntryCounts& counts, tally::CompactDLeftFilter& compact,
         tally::DLeftCountingBloomFilter<>& dleft, const tally::DLeftCountingBloomFilter<>& other,
         tally::BloomFilter<>& bloom, tally::CountingBloomFilter<>& counting, tally::CountMinSketch<>& sketch,
         tally::AnyFilter& any, tally::AgingBloomFilter<>& aging, const std::vector<tally::Hash128>& digests,
         const tally::Requirements& wanted) {
  set.insert({1, 2});                        // refused
  set.try_insert({1, 2});                    // refused
  set.try_grow({1, 2});                      // refused
  set.contains({1, 2});                      // refused
  recent.insert({1, 2});                     // refused
  entries.insert(1);                         // refused
  counts.insert(1, 1);                       // refused
  compact.insert(1);                         // refused
  compact.remove(1);                         // refused
  compact.merge(compact);                    // refused
  compact.may_contain(1);                    // refused
  compact.count(1);                          // refused
  dleft.insert(1);                           // refused
  dleft.remove(1);                           // refused
  dleft.merge(other);                        // refused
  dleft.try_grow();                          // refused
  dleft.try_halve();                         // refused
  dleft.may_contain(1);                      // refused
  dleft.count(1);                            // refused
  bloom.may_contain(1);                      // refused
  bloom.test_and_insert(1);                  // refused
  counting.remove(1);                        // refused
  counting.may_contain(1);                   // refused
  counting.at_least(1, 2);                   // refused
  counting.count(1);                         // refused
  sketch.count(1);                           // refused
  sketch.estimate(1);                        // refused
  dleft.insert_range(digests);               // refused
  aging.test_and_refresh(1);                 // refused
  aging.may_contain(1);                      // refused
  any.insert(1);                             // refused
  any.remove(1);                             // refused
  any.may_contain(1);                        // refused
  any.count(1);                              // refused
  any.insert_batch(digests);                 // refused
  any.merge(any);                            // refused
  any.try_grow();                            // refused
  tally::plan(wanted);                       // refused
  tally::plan_dleft(wanted);                 // refused
  tally::plan_count_min(wanted);             // refused
  tally::plan_shares({}, {}, wanted);        // refused
  tally::shard_of({}, 16);                   // refused
  tally::random_seed();                      // refused
  tally::random_hash_key();                  // refused
  tally::estimate_similarity(bloom, bloom);  // refused
  tally::digest_from(1);                     // refused
  tally::hash_key("x", 1);                   // refused
  // What these return would refer to what is gone.
  (void)tally::MappedFilter::open("file").filter();                 // refused
  (void)*tally::Mapped<tally::BloomFilter<>>::open("file");         // refused
  (void)tally::SpaceSaving(10, 1).top(1);                           // refused
  (void)tally::TopKeys<>(10, {.width = 10, .depth = 2}, 1).top(1);  // refused
}
