#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <system_error>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "cli/signals.hpp"
#include "commands/commands.hpp"
#include "files/file_stamp.hpp"
#include "files/filter_file.hpp"
#include "files/summary_file.hpp"
#include "tally/summaries/publisher.hpp"
#include "text/duration.hpp"
#include "text/output_check.hpp"

namespace tally::cli {

namespace {

struct WatchOptions {
  FilterFileOptions filter;
  std::string name;
  Nanoseconds interval = nanoseconds_per_second;
  Nanoseconds heartbeat = 10 * nanoseconds_per_second;
  Nanoseconds full_interval = 300 * nanoseconds_per_second;
  bool quiet = false;
};

using Clock = std::chrono::steady_clock;

// Waits in short steps, and ends early if the reader of our output is gone.
void wait(Nanoseconds duration) {
  const auto end = Clock::now() + std::chrono::nanoseconds(duration);
  while (!stop_requested()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return;
    wait_unless_output_is_closed(static_cast<int>(std::min<std::int64_t>(left, 1000)));
  }
}

// Publishes the versions of a file on standard output.
class Watch {
 public:
  explicit Watch(const WatchOptions& options)
      : options_(options), name_(publisher_name(options.name, options.filter.path)) {}

  // Whether a new version was sent.
  void look() {
    const std::optional<FileStamp> stamp = stamp_of(options_.filter.path);
    if (stamp && stamp != stamp_) {
      publish(load_summary(options_.filter.path, options_.filter.key()));
      stamp_ = stamp;
    } else if (!stamp && stamp_) {
      remark(options_.quiet, fmt::format("'{}' is gone; waiting for it", options_.filter.path));
      stamp_.reset();
    }
    if (!publisher_) return;
    if (is_due(last_full_, options_.full_interval)) return send(publisher_->full());
    if (is_due(last_sent_, options_.heartbeat)) send(publisher_->heartbeat());
  }

  void finish() { output_.finish(); }
  bool has_published() const { return publisher_.has_value(); }

 private:
  static bool is_due(Clock::time_point since, Nanoseconds interval) {
    return Clock::now() - since >= std::chrono::nanoseconds(interval);
  }

  void publish(const SummaryTable& table) {
    if (!publisher_) {
      publisher_.emplace(table.layout(), SummaryOptions{name_});
    } else if (publisher_->layout() != table.layout()) {
      publisher_->change_layout(table.layout());
    }
    publisher_->touch_all();
    send(publisher_->publish(table.words()));
  }

  void send(const std::vector<std::byte>& message) {
    output_.write({reinterpret_cast<const char*>(message.data()), message.size()});
    output_.flush();
    last_sent_ = Clock::now();
    const SummaryMessage sent = read_summary_message(message);
    if (sent.kind == SummaryMessageKind::full) last_full_ = last_sent_;
    if (sent.kind == SummaryMessageKind::heartbeat) return;
    remark(options_.quiet, fmt::format("version {}: {}, {}, {} {}", sent.version.sequence, name_of(sent.kind),
                                       human_bytes(static_cast<double>(message.size())), sent.num_changes,
                                       sent.kind == SummaryMessageKind::full ? "set" : "changed"));
  }

  const WatchOptions& options_;
  std::string name_;
  Output output_;
  std::optional<SummaryPublisher> publisher_;
  std::optional<FileStamp> stamp_;
  Clock::time_point last_sent_{};
  Clock::time_point last_full_{};
};

ExitCode run_watch(const WatchOptions& options) {
  refuse_terminal("send it through a pipe to 'tally patch'");
  Watch watch(options);
  watch.look();
  if (!watch.has_published()) {
    throw std::system_error(errno, std::generic_category(),
                            fmt::format("cannot open '{}'", options.filter.path));
  }
  while (!stop_requested()) {
    wait(options.interval);
    if (!stop_requested()) watch.look();
  }
  watch.finish();
  return ExitCode::success;
}

}  // namespace

Run declare_watch(CommandLine app) {
  const auto options = std::make_shared<WatchOptions>();
  add_details(app, R"(
      Writes a full copy of the filter file's summary to standard output, and then, after each change of the file, a
      message with the change. 'tally patch', on this or another machine, reads the other end of the pipe. It cannot
      ask for lost messages, so a full copy is sent at regular intervals. The command ends on SIGINT, SIGTERM and
      SIGHUP, and when the reader closes the pipe.
      )");
  app.set_exit_status({.success = "after success"});
  add_filter_file(app, options->filter);
  app.add_option("--name", options->name, "Name of the publisher in the messages (default: the file's name)")
      .type_name("NAME");
  add_duration(app, "--interval", options->interval, "Time between two looks at the file (default: 1s)");
  add_duration(app, "--heartbeat", options->heartbeat,
               "Send the number of the last version if nothing was sent for this time (default: 10s)");
  add_duration(app, "--full-interval", options->full_interval, "Time between two full copies (default: 5m)");
  add_quiet(app, options->quiet);
  return [options] { return run_watch(*options); };
}

}  // namespace tally::cli
