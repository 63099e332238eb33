#include "entries.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <iterator>

namespace tally::bench {
namespace {

void append(std::vector<Entry>& all, std::vector<Entry> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

[[maybe_unused]] void note_missing(const char* rival, const char* package) {
  fmt::print(stderr, "not built: {} (Debian package {}, then run cmake again)\n", rival, package);
}

}  // namespace

std::vector<Entry> all_entries() {
  std::vector<Entry> all = bloom_entries();
  append(all, dleft_entries());
  append(all, sketch_entries());
  append(all, hash_set_entries());
#ifdef TALLY_HAS_ABSEIL
  append(all, abseil_entries());
#else
  note_missing("absl::flat_hash_set", "libabsl-dev");
#endif
#ifdef TALLY_HAS_LIBBLOOM
  append(all, libbloom_entries());
#else
  note_missing("libbloom", "libbloom-dev");
#endif
#ifdef TALLY_HAS_BTLLIB
  append(all, btllib_entries());
#else
  note_missing("btllib", "libbtllib-dev");
#endif
  return all;
}

}  // namespace tally::bench
