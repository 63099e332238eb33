#include <bloom.h>
#include <fmt/core.h>

#include <cstring>
#include <new>
#include <string_view>

#include "entries.hpp"

namespace tally::bench {
namespace {

using Filter = struct bloom;

/// libbloom hashes the 16 bytes of every key, so its times include that in all rows.
class LibbloomCalls {
 public:
  LibbloomCalls(std::uint64_t num_keys, double rate) : filter_(new Filter{}) {
    if (bloom_init(filter_.get(), static_cast<int>(num_keys), rate) != 0) throw std::bad_alloc();
  }

  std::uint64_t num_bytes() const { return static_cast<std::uint64_t>(filter_->bytes); }
  template <class Key>
  bool insert(const Key& key) {
    return bloom_add(filter_.get(), bytes_of(key), 16) >= 0;
  }
  template <class Key>
  bool contains(const Key& key) const {
    return bloom_check(filter_.get(), bytes_of(key), 16) == 1;
  }

 private:
  struct Free {
    void operator()(Filter* filter) const {
      bloom_free(filter);
      delete filter;
    }
  };

  static const void* bytes_of(const Hash128& digest) { return &digest; }
  static const void* bytes_of(std::string_view text) { return text.data(); }

  std::unique_ptr<Filter, Free> filter_;
};

}  // namespace

std::vector<Entry> libbloom_entries() {
  std::vector<Entry> entries;
  for (const double rate : {0.01, 0.002}) {
    const auto make = [=](std::uint64_t num_keys) { return structure_of(LibbloomCalls(num_keys, rate), {}); };
    entries.push_back({fmt::format("libbloom {}%", 100 * rate), make,
                       std::uint64_t{1} << 27});  // its number of bits is an int
  }
  return entries;
}

}  // namespace tally::bench
