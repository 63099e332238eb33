// A program outside the project that uses what was installed. The keyed hash and the key of Squid show that
// the library's own dependencies are linked too; the formula, that compiled code is.
#include <cstdio>
#include <string_view>

#include <tally/filters/bloom.hpp>
#include <tally/hashing/key_hasher.hpp>
#include <tally/summaries/squid/key.hpp>
#include <tally/theory/bloom.hpp>
#include <tally/version.hpp>

int main() {
  tally::BloomFilter<> seen({.num_bits = 1024, .num_hashes = 7}, tally::KeyHasher::keyed(tally::HashKey{}));
  seen.insert(std::string_view("a key"));
  const bool found = seen.may_contain(std::string_view("a key"));
  const tally::SquidKey squid_key(tally::SquidMethod::get, "http://www.example.org/");
  const double rate = tally::theory::false_positive_probability(1024, 7, 1);
  std::printf("tally %.*s: %s, %g\n", static_cast<int>(tally::version().size()), tally::version().data(),
              found ? "found" : "missing", rate);
  return found && squid_key.words()[0] == 0xae7618c0 && rate > 0 && rate < 1e-9 ? 0 : 1;
}
