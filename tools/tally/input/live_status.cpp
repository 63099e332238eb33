#include "input/live_status.hpp"

#include <utility>

#include "cli/options.hpp"
#include "cli/signals.hpp"
#include "input/event_time.hpp"
#include "text/key_json.hpp"

namespace tally::cli {

void add_every(CommandLine app, std::optional<Nanoseconds>& every) {
  add_duration(app, "--every", every, R"(
      Print the summary so far as a line of JSON each time this much time has passed, to standard error, or with --json
      to standard output (SIGUSR1 prints it as text at any time)
      )");
}

LiveStatus::LiveStatus(Says says, std::optional<Nanoseconds> every, Output* output)
    : says_(std::move(says)), output_(output) {
  if (every) every_ = std::chrono::nanoseconds(*every);
  if (every_) next_ += *every_;
  install_status_handler();
}

void LiveStatus::look() {
  if (take_status_request()) remark(false, "so far: " + says_.text());
  if (every_ && is_due()) write_summary();
  if (says_.besides) says_.besides();
}

bool LiveStatus::is_due() {
  const Clock::time_point now = Clock::now();
  if (now < next_) return false;
  next_ += *every_ * ((now - next_) / *every_ + 1);
  return true;
}

void LiveStatus::write_summary() {
  Json so_far{{"time", time_text(time_now())}};
  so_far.update(says_.summary());
  const std::string line = json_line(Json{{"so_far", so_far}});
  if (output_ == nullptr) return print_to_standard_error(line);
  output_->write_record(line);
  output_->flush();
}

}  // namespace tally::cli
