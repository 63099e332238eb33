#include "call.hpp"

#include <algorithm>
#include <limits>

#include "module_options.hpp"

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

std::uint64_t Call::max_key_bytes() const noexcept {
  return is_replayed() ? std::numeric_limits<std::uint64_t>::max() : module_options.max_key_bytes;
}

}  // namespace tally::redis
