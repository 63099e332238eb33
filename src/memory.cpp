#include "tally/memory.hpp"

#include <stdexcept>
#include <string>

namespace tally {
namespace {

MemorySource source_of_words;  // the default while it is empty

}  // namespace

void set_memory_source(const MemorySource& source) {
  if ((source.allocate == nullptr) != (source.deallocate == nullptr)) {
    throw std::invalid_argument(std::string("MemorySource: ") +
                                (source.allocate == nullptr ? "allocate" : "deallocate") +
                                " is missing; give both functions or none");
  }
  source_of_words = source;
}

MemorySource memory_source() noexcept { return source_of_words; }

}  // namespace tally
