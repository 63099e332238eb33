// What is not a key, and weights that may be negative.

#include <string>

#include "tally/filters/bloom.hpp"
#include "tally/sketches/count_min.hpp"
#include "tally/sketches/space_saving.hpp"

struct NoKey {};

void use(tally::BloomFilter<>& filter, tally::CountMinSketch<>& sketch, tally::SpaceSaving& top, int weight,
         const char* pointer) {
  filter.insert(3.7);          // refused
  filter.insert(true);         // refused
  filter.insert('a');          // refused
  filter.insert(__int128{1});  // refused
  filter.insert(nullptr);      // refused
  filter.insert(pointer);      // refused
  filter.insert(NoKey());      // refused
  char ip[8] = {10, 0, 0, 1};
  filter.insert(ip);  // refused
  filter.insert(std::string_view(ip, 4));
  top.add(0);               // refused
  top.add(nullptr);         // refused
  sketch.add("x", -1);      // refused
  sketch.add("x", weight);  // refused
  sketch.add("x", 1);
}
