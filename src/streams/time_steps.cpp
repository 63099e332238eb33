#include "tally/streams/time_steps.hpp"

#include "tally/streams/state_reader.hpp"
#include "tally/streams/state_writer.hpp"

namespace tally {

void TimeSteps::save(StateWriter& state) const {
  state.number(has_begun_);
  state.number(static_cast<std::uint64_t>(latest_));
  state.number(num_late_);
  state.number(num_left_out_);
}

void TimeSteps::restore(StateReader& state) {
  has_begun_ = state.number_at_most(1) == 1;
  latest_ = static_cast<Nanoseconds>(state.number());
  // So that differences of times do not overflow.
  if (latest_ > max_time || latest_ < -max_time) state.fail("a time is out of range");
  num_late_ = state.number();
  num_left_out_ = state.number();
}

}  // namespace tally
