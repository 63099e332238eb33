#pragma once

#include <memory>
#include <string>
#include <utility>

#include "call.hpp"
#include "open_key.hpp"

namespace tally::redis {

/// Gives an empty key a new, empty value. Its header travels to the replicas and to the append-only file: they need not
/// plan the value again, and have the same seed.
template <class Value>
Value& create_value(const Call& call, OpenKey& key, std::unique_ptr<Value> value) {
  const std::string header = value->empty_header();
  api::replicate(call.context(), "TALLY.LOADEMPTY", "sb", call.argument(1), header.data(), header.size());
  return key.set(std::move(value));
}

}  // namespace tally::redis
