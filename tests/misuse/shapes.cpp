// Shapes that were planned for another structure.

#include "tally/filters/bloom.hpp"
#include "tally/filters/counting_bloom.hpp"
#include "tally/planner.hpp"

void use(const tally::Requirements& wanted) {
  tally::BloomFilter<> plain(tally::plan_bloom(wanted), 42);
  tally::BlockedBloomFilter blocked(tally::plan_blocked_bloom(wanted), 42);
  tally::BlockedBloomFilter from_plain(tally::plan_bloom(wanted), 42);       // refused
  tally::BloomFilter<> from_blocked(tally::plan_blocked_bloom(wanted), 42);  // refused
  tally::CountingBloomFilter<> from_bits(tally::plan_bloom(wanted), 42);     // refused
  tally::BloomShape converted = tally::plan_blocked_bloom(wanted);           // refused
}
