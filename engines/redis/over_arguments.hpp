#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "call.hpp"
#include "over_stream.hpp"
#include "over_value.hpp"
#include "replicated_command.hpp"

// What commands of TALLY.OVER* read of the options of a key.

namespace tally::redis {

inline constexpr std::int64_t nanoseconds_per_millisecond = 1'000'000;

/// The arguments of TALLY.OVERINSERT, and which of the options are given.
struct OverArguments {
  OverOptions options;
  bool has_window = false, has_slots = false, has_memory = false, has_keys = false, has_rate = false,
       has_update = false, has_seed = false;
  std::optional<std::int64_t> milliseconds;
  std::size_t first_item = 0;
};

/// N, at argument `argument`. Throws Refusal.
std::uint64_t threshold_at(const Call& call, std::size_t argument);
/// A time in milliseconds since 1970. Throws Refusal.
std::int64_t milliseconds_at(const Call& call, std::size_t argument);

/// N and options up to the word ITEMS, with at least one item after it. Throws Refusal.
OverArguments read_arguments_with_items(const Call& call);
/// N and options up to the end, without TIME. Throws Refusal.
OverArguments read_arguments_without_items(const Call& call);

/// Throws Refusal unless the key was made with the same N and the same of the options that are given.
void require_same(const OverArguments& arguments, const OverOptions& own);

/// An empty value with these options, and with a random seed if none is given. Throws Refusal and std::bad_alloc.
std::unique_ptr<OverValue> make_over_value(const Call& call, const OverArguments& arguments);

/// Adds the options of a key, for a replica to make the same one.
void add_options(ReplicatedCommand& command, const OverOptions& own);

}  // namespace tally::redis
