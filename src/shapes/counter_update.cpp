#include "tally/shapes/counter_update.hpp"

namespace tally {

std::string_view name_of(CounterUpdate update) noexcept {
  return update == CounterUpdate::plain ? "plain" : "conservative";
}

}  // namespace tally
