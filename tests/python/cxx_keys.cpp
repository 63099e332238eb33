// What C++ answers and writes, for tests/python/test_across.py. Arguments: a filter to read, and one to write.

#include <cstdint>
#include <cstdio>
#include <string_view>
#include <tuple>

#include "tally/serialization.hpp"

namespace {

/// A Count-Min sketch adds one; no other filter of the test fills up.
template <class Key>
void insert(tally::AnyFilter& filter, const Key& key) {
  std::ignore = filter.insert(key);
}

}  // namespace

int main(int, char** arguments) {
  tally::AnyFilter filter = tally::load(arguments[1]);
  for (const std::string_view text : {"apple", "42", "absent"}) std::printf("%d\n", filter.may_contain(text));
  for (const std::int64_t number : {42, -5, 7}) std::printf("%d\n", filter.may_contain(number));
  std::printf("%d\n", filter.may_contain(~std::uint64_t{0} - 4));
  insert(filter, "from C++");
  insert(filter, std::int16_t{-7});
  tally::save(filter, arguments[2]);
}
