#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "redis_module_api.hpp"

namespace tally::redis {

/// Thrown by a command whose number of arguments is wrong in a way that its Command does not state.
struct WrongArity {};

/// What Redis itself replies where `maxmemory` is reached.
inline constexpr const char* out_of_memory = "OOM command not allowed when used memory > 'maxmemory'.";

/// One call of a command: its arguments, and its reply. Argument 0 is the command's name, argument 1 the key.
class Call {
 public:
  Call(api::Context* context, std::span<api::String* const> arguments) noexcept
      : context_(context), arguments_(arguments) {}

  api::Context* context() const noexcept { return context_; }

  // Arguments.

  std::size_t size() const noexcept { return arguments_.size(); }
  api::String* argument(std::size_t i) const noexcept { return arguments_[i]; }
  std::string_view text(std::size_t i) const noexcept;
  /// Nothing if the argument is not an integer of 64 bits with a sign.
  std::optional<long long> integer(std::size_t i) const noexcept;
  /// Nothing if the argument is not a number; never NaN.
  std::optional<double> real(std::size_t i) const noexcept;
  /// Whether the argument is this word, which is in capital letters; the argument need not be.
  bool is_word(std::size_t i, std::string_view word) const noexcept;

  // Replies. Redis writes them in the protocol that the client has chosen.

  bool is_resp3() const noexcept { return (api::get_context_flags(context_) & api::is_resp3) != 0; }
  void ok() const noexcept { simple("OK"); }
  void simple(const char* text) const noexcept { api::reply_with_simple_string(context_, text); }
  void integer_reply(std::uint64_t value) const noexcept;
  void signed_reply(long long value) const noexcept { api::reply_with_integer(context_, value); }
  /// RESP2: a bulk string.
  void real_reply(double value) const noexcept { api::reply_with_double(context_, value); }
  void boolean(bool value) const noexcept { api::reply_with_bool(context_, value ? 1 : 0); }
  void null() const noexcept { api::reply_with_null(context_); }
  void error(const char* text) const noexcept { api::reply_with_error(context_, text); }
  void bytes(std::string_view text) const noexcept {
    api::reply_with_bytes(context_, text.data(), text.size());
  }
  void array(std::size_t length) const noexcept {
    api::reply_with_array(context_, static_cast<long>(length));
  }
  void map(std::size_t length) const noexcept { api::reply_with_map(context_, static_cast<long>(length)); }
  void entry(const char* name, std::uint64_t value) const noexcept {
    simple(name);
    integer_reply(value);
  }

  // Replicas and the append-only file.

  /// Sends the arguments as they came, with a name that a server without the compatible names has too.
  void replicate_as(const char* command) const noexcept {
    api::replicate(context_, command, "v", arguments_.data() + 1, arguments_.size() - 1);
  }

  /// Whether the server does here what its master or a file did before, also for a client that writes to a replica. It then
  /// has no limits, and takes no decisions of its own, such as when a filter grows.
  bool is_replayed() const noexcept;

  // Limits. There is none where is_replayed().

  /// The most bytes that a key may take.
  std::uint64_t max_key_bytes() const noexcept;
  /// Whether a command may take as long as to copy this number of bytes, while all clients wait.
  bool allows_step(std::uint64_t num_bytes) const noexcept;
  /// Throws Refusal if it may not. `way_out` is what to do instead.
  void require_step(std::uint64_t num_bytes, const char* way_out) const;
  /// Whether this many more bytes stay below `maxmemory`; if the server evicts keys, whether they can at all. Takes some
  /// time, so it is for keys that are made or that grow.
  bool has_memory_for(std::uint64_t num_bytes) const noexcept;
  /// Throws Refusal if it has not.
  void require_memory_for(std::uint64_t num_bytes) const;

 private:
  api::Context* context_;
  std::span<api::String* const> arguments_;
};

}  // namespace tally::redis
