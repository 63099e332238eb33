#pragma once

#include <cstdint>

namespace tally::redis {

/// What the arguments of the module set when it is loaded.
struct ModuleOptions {
  bool compatible_names = true;  ///< COMPAT yes|no
  std::uint64_t max_key_bytes = std::uint64_t{256}
                                << 20;  ///< MAX-KEY-BYTES; an engine cannot migrate 512 MiB
  std::uint64_t max_step_bytes = std::uint64_t{16}
                                 << 20;  ///< MAX-STEP-BYTES; what is copied well within 10 ms
};

inline ModuleOptions module_options;

}  // namespace tally::redis
