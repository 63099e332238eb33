// The least program: one filter. It needs nothing at run time but the C++ library.
#include <cstdio>

#include <tally/filters/bloom.hpp>

int main() {
  tally::BloomFilter<> seen({.num_bits = 1024, .num_hashes = 7}, 42);
  seen.insert("a key");
  return seen.may_contain("a key") && !seen.may_contain("another key") ? 0 : 1;
}
