#pragma once

#include <hiredis/hiredis.h>

#include <cstddef>
#include <string_view>

// Only files of the client include this, and programs that read replies themselves: it needs hiredis.

namespace tally::redis_client {

/// The text of a string, a status or an error; empty for other replies.
inline std::string_view text_of(const redisReply& reply) noexcept {
  const bool has_text =
      reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS || reply.type == REDIS_REPLY_ERROR;
  return has_text ? std::string_view(reply.str, reply.len) : std::string_view();
}

/// The text of an element of an array; empty if there is none.
inline std::string_view word_of(const redisReply& reply, std::size_t i) noexcept {
  if (reply.type != REDIS_REPLY_ARRAY || i >= reply.elements) return {};
  return text_of(*reply.element[i]);
}

inline bool is_error(const redisReply& reply) noexcept { return reply.type == REDIS_REPLY_ERROR; }

}  // namespace tally::redis_client
