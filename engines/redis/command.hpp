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

/// What a command does with its keys: argument 1, and for a merge also its sources.
enum class KeyUse { none, read, insert, update, read_and_update, remove, merge, merge_counted };

/// What Redis calls, and how many arguments it takes: -N is at least N.
struct CommandEntry {
  api::CommandFunction function;
  int arity;
};

/// A row in the table of a family of commands. The last three are what COMMAND DOCS says, and the first two of them what
/// the table in docs/redis.md says.
struct Command {
  const char* name;
  CommandEntry entry;
  const char* flags;
  KeyUse keys;
  const char* syntax;  ///< the arguments, as CommandSyntax reads them
  const char* summary;
  const char* complexity;
};

inline constexpr const char* constant_time = "O(1)";
inline constexpr const char* time_per_item = "O(N) where N is the number of items";
inline constexpr const char* time_of_structure = "O(N) where N is the size of the structure";

inline constexpr int any_number = std::numeric_limits<int>::max();

/// What Redis calls: runs the command if it has `least` to `most` arguments, its name included. Whatever the command
/// throws becomes an error reply, so a command changes nothing and replies nothing before it throws.
template <void (*run)(Call&), int least, int most>
int run_command(api::Context* context, api::String** arguments, int count) noexcept {
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

template <void (*run)(Call&), int least, int most = least>
inline constexpr CommandEntry entry{run_command<run, least, most>, least == most ? least : -least};

/// The tables. The names of the first seven belong to Tally; those of the others are the compatible names.
std::span<const Command> own_commands() noexcept;
std::span<const Command> filter_commands() noexcept;
std::span<const Command> file_commands() noexcept;
std::span<const Command> over_commands() noexcept;
std::span<const Command> packed_commands() noexcept;
std::span<const Command> batch_commands() noexcept;
std::span<const Command> summary_commands() noexcept;
std::span<const Command> bloom_commands() noexcept;
std::span<const Command> count_min_commands() noexcept;
std::span<const Command> cuckoo_commands() noexcept;
std::span<const Command> top_k_commands() noexcept;

}  // namespace tally::redis
