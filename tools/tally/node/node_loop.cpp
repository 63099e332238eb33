#include "node/node_loop.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "cli/signals.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

/// poll, but it returns at once if a signal requests a stop before or during the wait. Signals are blocked between the
/// check of stop_requested and the wait, so none is missed. `heeds_stop` is false after a stop was handled.
void poll_or_stop(std::vector<pollfd>& polled, Nanoseconds wait, bool heeds_stop) {
  sigset_t stops;
  sigset_t before;
  sigemptyset(&stops);
  for (const int signal : stop_signals) sigaddset(&stops, signal);
  sigprocmask(SIG_BLOCK, &stops, &before);
  wait = (heeds_stop && stop_requested()) || reload_requested()
             ? 0
             : std::clamp<Nanoseconds>(wait, 0, 60 * nanoseconds_per_second);
  const timespec time{.tv_sec = wait / nanoseconds_per_second, .tv_nsec = wait % nanoseconds_per_second};
  const int result = ppoll(polled.data(), polled.size(), &time, &before);
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (result >= 0) return;
  if (error != EINTR) throw std::system_error(error, std::generic_category(), "poll");
  for (pollfd& entry : polled) entry.revents = 0;
}

std::string status_text(const SummaryNode& node) {
  return fmt::format("{}, {} peers, {} keys",
                     node.bus().is_up() ? "connected" : "not connected to the Redis server",
                     node.peers().copies().num_peers(), node.directory().pending().num_keys);
}

}  // namespace

Nanoseconds steady_now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * nanoseconds_per_second + time.tv_nsec;
}

NodeLoop::NodeLoop(const Options& options, SummaryNode& node, DirectoryFile* saved)
    : options_(options),
      node_(node),
      saved_(saved),
      commands_(options.commands, node),
      api_(std::in_place, options.api, options.group, node) {}

std::uint64_t NodeLoop::run() {
  service_.say("READY=1", steady_now());
  while (!is_done()) turn();
  if (saved_ != nullptr) save_all();  // lines that had been read may have been taken since
  commands_.finish();
  if (!save_error_.empty()) throw std::runtime_error("--save: " + save_error_);
  require_published();
  return commands_.num_refused();
}

bool NodeLoop::is_done() const {
  return is_ending() && (node_.own().is_published() || steady_now() >= *end_by_);
}

void NodeLoop::turn() {
  wait_for_events();
  const Nanoseconds now = steady_now();
  if (take_reload_request()) reload();
  node_.receive(polled_, now);
  commands_.step(polled_[0].revents != 0, now);
  if (api_) api_->step(polled_, now);
  service_.step(now);
  if (service_.is_there()) service_.show(status_text(node_), now);
  save_if_due(now);
  if (!is_ending() && (stop_requested() || (commands_.has_ended() && !options_.commands.stays))) end(now);
  node_.send(now);
}

void NodeLoop::wait_for_events() {
  const bool reads_input = options_.reads_input && commands_.wants_input() && !is_ending();
  polled_.assign(1, {reads_input ? STDIN_FILENO : -1, POLLIN, 0});
  node_.add_polled(polled_);
  Nanoseconds wake_at = std::min({node_.deadline(), commands_.deadline(), service_.deadline()});
  if (api_) {
    api_->add_polled(polled_, steady_now());
    wake_at = std::min(wake_at, api_->deadline());
  }
  if (is_ending()) wake_at = std::min(wake_at, *end_by_);
  if (saved_ != nullptr && node_.own().is_announced()) wake_at = std::min(wake_at, saved_->deadline());
  poll_or_stop(polled_, wake_at - steady_now(), !is_ending());
}

void NodeLoop::reload() {
  if (options_.reload) return options_.reload();
  remark(false, "SIGHUP: there is no --load to read again");
}

// A directory that is still being read is not saved over the last one.
void NodeLoop::save_if_due(Nanoseconds now) {
  if (saved_ != nullptr && node_.own().is_announced()) saved_->save_if_due(node_.directory(), now);
}

void NodeLoop::save_all() {
  if (!node_.own().is_announced() && !commands_.has_ended()) return;
  save_error_.clear();
  try {
    saved_->save_now(node_.directory());
  } catch (const std::exception& error) {
    save_error_ = error.what();
  }
}

void NodeLoop::end(Nanoseconds now) {
  end_by_ = now + options_.linger;
  service_.say("STOPPING=1", now);
  api_.reset();
  node_.own().publish_now();
  if (saved_ != nullptr) save_all();  // what cannot be saved is published all the same
}

void NodeLoop::require_published() const {
  if (node_.own().has_yielded()) {
    throw std::runtime_error(fmt::format(
        "another node is named '{}': the changes since it started were not published", node_.name()));
  }
  const std::string servers = node_.bus().servers().shown();
  if (node_.own().owes_copy() && node_.bus().is_up()) {
    throw std::runtime_error(fmt::format(
        "Redis at {} did not take the full copy of the last version before the end; keep the node "
        "running longer with --linger",
        servers));
  }
  if (node_.own().is_published()) return;
  const PendingChanges pending = node_.directory().pending();
  throw std::runtime_error(
      fmt::format("Redis at {} did not accept the last {} changes before the end; keep the node running "
                  "longer with --linger",
                  servers, pending.num_inserted + pending.num_removed));
}

}  // namespace tally::cli
