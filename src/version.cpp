#include "tally/version.hpp"

namespace tally {

std::string_view version() noexcept { return TALLY_VERSION; }

}  // namespace tally
