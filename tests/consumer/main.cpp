// A program that uses much of the library. The keyed hash and the key of Squid show that the libraries that these need are
// linked too; the formula and the plan, that compiled code is; the exception, that its type is the same on both sides.
#include <array>
#include <cstddef>
#include <cstdio>

#include <tally/serialization.hpp>
#include <tally/tally.hpp>
#include <tally/theory.hpp>

int main() {
  const tally::Requirements wanted{.num_keys = 1000, .false_positive_rate = 0.01, .needs_deletes = true};
  tally::AnyFilter filter(tally::plan(wanted).recommended().shape,
                          tally::KeyHasher::keyed(tally::random_hash_key()));
  const bool inserted = filter.insert("a key") == tally::InsertResult::counted;
  const bool found = filter.may_contain("a key");
  const tally::SquidKey squid_key(tally::SquidMethod::get, "http://www.example.org/");
  const double rate = tally::theory::false_positive_probability(1024, 7, 1);
  bool refused = false;
  try {
    (void)tally::file_kind(std::array<std::byte, 4>{});
  } catch (const tally::FormatError& error) {
    refused = error.what() != nullptr;
  }
  std::printf("tally %.*s: %s, %g\n", static_cast<int>(tally::version().size()), tally::version().data(),
              found ? "found" : "missing", rate);
  return inserted && found && refused && squid_key.words()[0] == 0xae7618c0 && rate > 0 && rate < 1e-9 ? 0
                                                                                                       : 1;
}
