#pragma once

#include <cstddef>

#include "any_value.hpp"
#include "call.hpp"
#include "open_key.hpp"
#include "packed_reply.hpp"

namespace tally::redis {

/// A change of a key by a batch of items: an operation of TALLY.PACKED and TALLY.BATCH.
struct PackedOperation {
  const char* word;
  const char* arguments;  ///< after the word
  bool (*takes)(std::size_t num_arguments);
  /// The value of the key, if it is of the type that the operation changes. Throws Refusal.
  AnyValue& (*find)(const OpenKey& key);
  /// Changes the value, and sends the change to replicas. The arguments begin at number `first`. Throws Refusal and
  /// std::bad_alloc, and then has changed nothing.
  void (*run)(const Call& call, AnyValue& value, std::size_t first, PackedReply& reply);
  /// An upper bound of the numbers in the reply.
  std::size_t (*most_numbers)(const Call& call, std::size_t first);
};

/// The operation whose word is this argument. Throws Refusal if there is none, or if it takes another number of arguments.
const PackedOperation& packed_operation(const Call& call, std::size_t argument);

/// The arguments of an operation and its word, as CommandSyntax reads them.
#define TALLY_PACKED_OPERATIONS \
  "(ADD digests | REMOVE digests | (OVER N digests [TIME milliseconds]) | (TOP (item increment) ...))"

}  // namespace tally::redis
