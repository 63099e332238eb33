#pragma once

#include <cstddef>
#include <string_view>

#include "redis_module_api.hpp"
#include "tally/serialization/format_error.hpp"

namespace tally::redis {

/// Bytes that the engine allocated for a string of a snapshot.
class LoadedBytes {
 public:
  explicit LoadedBytes(api::Io* io) : bytes_(api::load_bytes(io, &length_)) {
    if (bytes_ == nullptr || api::is_io_error(io) != 0) throw FormatError("the snapshot ends too early", 0);
  }
  ~LoadedBytes() { api::free_bytes(bytes_); }
  LoadedBytes(const LoadedBytes&) = delete;
  LoadedBytes& operator=(const LoadedBytes&) = delete;

  std::string_view view() const noexcept { return {bytes_, length_}; }

 private:
  std::size_t length_ = 0;
  char* bytes_;
};

}  // namespace tally::redis
