#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "structure_of.hpp"

namespace tally::bench {

/// A row of the benchmark: how to make one structure.
struct Entry {
  std::string name;
  /// Empty, with room for this number of keys.
  std::function<std::unique_ptr<Structure>(std::uint64_t num_keys)> make;
  /// Beyond it, it would take too much memory, or its type cannot express the size.
  std::uint64_t most_keys = std::uint64_t{1} << 32;
};

template <class Calls>
std::unique_ptr<Structure> structure_of(Calls calls, Structure::Facts facts) {
  return std::make_unique<StructureOf<Calls>>(std::move(calls), facts);
}

// One function per file of structures, in the order of the table. To add a structure of Tally, add a line to one of them;
// to add a rival, a file beside rivals/libbloom.cpp, its function here and its package in CMakeLists.txt.
std::vector<Entry> bloom_entries();
std::vector<Entry> dleft_entries();
std::vector<Entry> sketch_entries();
std::vector<Entry> hash_set_entries();
std::vector<Entry> libbloom_entries();
std::vector<Entry> btllib_entries();
std::vector<Entry> abseil_entries();

/// All of them, and on standard error the rivals that were missing when the benchmark was built.
std::vector<Entry> all_entries();

}  // namespace tally::bench
