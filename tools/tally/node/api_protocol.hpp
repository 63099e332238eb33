#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "text/duration.hpp"

namespace tally::cli {

/// What is spoken on one connection: takes bytes, gives bytes, and never waits.
class ApiProtocol {
 public:
  ApiProtocol() = default;
  ApiProtocol(const ApiProtocol&) = delete;
  ApiProtocol& operator=(const ApiProtocol&) = delete;
  virtual ~ApiProtocol() = default;

  /// Takes what it can of the front of `input`, and appends answers to `output`. Whether there may be more to do at once: it is
  /// called again when the output is on its way.
  virtual bool step(std::string& input, std::string& output, Nanoseconds now) = 0;
  /// Nobody reads answers any more: nothing is awaited, and what has come is still taken.
  virtual void hang_up() noexcept {}
  /// Ends a request that was not complete within `limit`: appends an answer, after which nothing is read.
  virtual void time_out(std::string& output, Nanoseconds limit) = 0;
  /// Requests, or lines, that have come and were complete.
  virtual std::uint64_t num_requests() const noexcept = 0;
  /// Whether a request has begun to come, which must be complete in time.
  virtual bool is_in_request() const noexcept = 0;
  /// Whether the connection is closed after the output.
  virtual bool is_last() const noexcept = 0;
  /// False while something else is awaited first.
  virtual bool wants_input() const noexcept { return true; }
  /// When to call step, even without input.
  virtual Nanoseconds deadline() const noexcept { return std::numeric_limits<Nanoseconds>::max(); }
  /// Whether a connection without a request is closed after some time.
  virtual bool ends_when_idle() const noexcept { return true; }
};

/// The protocol of a connection that begins with this byte. `is_local`: it comes over a unix socket, which only who may open
/// the file can reach.
using MakeApiProtocol = std::function<std::unique_ptr<ApiProtocol>(char first, bool is_local)>;

}  // namespace tally::cli
