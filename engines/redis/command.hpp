#pragma once

#include <cstddef>
#include <exception>
#include <limits>
#include <new>
#include <span>

#include "call.hpp"
#include "redis_module_api.hpp"
#include "refusal.hpp"

namespace tally::redis {

/// Which arguments of a command are keys.
enum class CommandKeys { first, all, none };

/// A row in the table of a family of commands.
struct Command {
  const char* name;
  api::CommandFunction function;
  const char* flags;
  CommandKeys keys = CommandKeys::first;
};

inline constexpr int any_number = std::numeric_limits<int>::max();

/// What Redis calls: runs the command if it has `least` to `most` arguments, its name included. Whatever the command
/// throws becomes an error reply, so a command changes nothing and replies nothing before it throws.
template <void (*run)(Call&), int least, int most = least>
int entry(api::Context* context, api::String** arguments, int count) noexcept {
  if (count < least || count > most) return api::wrong_arity(context);
  try {
    Call call(context, std::span<api::String* const>(arguments, static_cast<std::size_t>(count)));
    run(call);
  } catch (const Refusal& refusal) {
    api::reply_with_error(context, refusal.what());
  } catch (const WrongArity&) {
    api::wrong_arity(context);
  } catch (const std::bad_alloc&) {
    api::reply_with_error(context, "ERR Insufficient memory");
  } catch (const std::exception& error) {
    api::reply_with_error(context, error.what());
  } catch (...) {
    api::reply_with_error(context, "ERR unknown error in the module tally");
  }
  return api::ok;
}

/// The tables. The names of the first five belong to Tally; those of the others are the compatible names.
std::span<const Command> own_commands() noexcept;
std::span<const Command> filter_commands() noexcept;
std::span<const Command> file_commands() noexcept;
std::span<const Command> over_commands() noexcept;
std::span<const Command> summary_commands() noexcept;
std::span<const Command> bloom_commands() noexcept;
std::span<const Command> count_min_commands() noexcept;
std::span<const Command> cuckoo_commands() noexcept;
std::span<const Command> top_k_commands() noexcept;

}  // namespace tally::redis
