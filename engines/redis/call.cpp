#include "call.hpp"

#include <algorithm>
#include <limits>

#include "module_options.hpp"
#include "refusal.hpp"

namespace tally::redis {

std::string_view Call::text(std::size_t i) const noexcept {
  std::size_t length = 0;
  const char* bytes = api::string_bytes(arguments_[i], &length);
  return {bytes, length};
}

std::optional<long long> Call::integer(std::size_t i) const noexcept {
  long long value = 0;
  if (api::string_to_integer(arguments_[i], &value) != api::ok) return std::nullopt;
  return value;
}

std::optional<double> Call::real(std::size_t i) const noexcept {
  double value = 0;
  if (api::string_to_double(arguments_[i], &value) != api::ok || value != value) return std::nullopt;
  return value;
}

bool Call::is_word(std::size_t i, std::string_view word) const noexcept {
  const auto capital = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  return std::ranges::equal(text(i), word, {}, capital);
}

void Call::integer_reply(std::uint64_t value) const noexcept {
  constexpr auto greatest = static_cast<std::uint64_t>(std::numeric_limits<long long>::max());
  api::reply_with_integer(context_, static_cast<long long>(std::min(value, greatest)));
}

bool Call::is_replayed() const noexcept {
  constexpr int flags = api::is_replica | api::is_replicated | api::is_loading | api::is_loading_beside;
  return (api::get_context_flags(context_) & flags) != 0;
}

std::uint64_t Call::max_key_bytes() const noexcept {
  return is_replayed() ? std::numeric_limits<std::uint64_t>::max() : module_options.max_key_bytes;
}

bool Call::allows_step(std::uint64_t num_bytes) const noexcept {
  // A client of a replica waits as others do. Without a context, the two look alike.
  constexpr int replayed = api::is_replicated | api::is_loading | api::is_loading_beside;
  const int flags = context_ == nullptr ? replayed | api::is_replica : replayed;
  return num_bytes <= module_options.max_step_bytes || (api::get_context_flags(context_) & flags) != 0;
}

void Call::require_step(std::uint64_t num_bytes, const char* way_out) const {
  if (allows_step(num_bytes)) return;
  throw Refusal("ERR the command would take as long as to copy " + std::to_string(num_bytes) +
                " bytes, while all clients wait; must be at most " +
                std::to_string(module_options.max_step_bytes) + ", the module's option MAX-STEP-BYTES; " +
                way_out);
}

bool Call::has_memory_for(std::uint64_t num_bytes) const noexcept {
  if (is_replayed()) return true;
  api::ServerInfo* const info = api::get_server_info(context_, "memory");
  const auto number = [&](const char* field) -> std::uint64_t {
    return api::server_number(info, field, nullptr);
  };
  const std::uint64_t limit = number("maxmemory");
  const std::uint64_t used = number("used_memory");
  const std::uint64_t not_counted = number("mem_not_counted_for_evict");
  const char* const policy = api::server_text(info, "maxmemory_policy");
  const bool evicts = policy != nullptr && std::string_view(policy) != "noeviction";
  api::free_server_info(context_, info);
  if (limit == 0) return true;
  const std::uint64_t counted = evicts ? 0 : used - std::min(used, not_counted);
  return num_bytes <= limit && counted <= limit - num_bytes;
}

void Call::require_memory_for(std::uint64_t num_bytes) const {
  if (!has_memory_for(num_bytes)) throw Refusal(out_of_memory);
}

}  // namespace tally::redis
