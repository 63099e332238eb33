#pragma once

#include <memory>

#include "any_value.hpp"
#include "redis_module_api.hpp"

namespace tally::redis {

/// The version of snapshots that this module writes. It also reads version 1, which has no journal of writers.
inline constexpr int encoding_version = 2;

/// The methods of a data type that do not depend on the type: snapshots, append-only file, memory, copies.
api::TypeMethods type_methods() noexcept;

/// Reads what rdb_save wrote into an empty value; nullptr if it is damaged, and then it has written to the log.
void* load_snapshot(api::Io* io, int version, std::unique_ptr<AnyValue> empty) noexcept;

/// Registers a data type, once. Returns false if the name is taken.
template <class Value>
bool create_data_type(api::Context* context) {
  api::TypeMethods methods = type_methods();
  methods.rdb_load = [](api::Io* io, int version) noexcept -> void* {
    try {
      return load_snapshot(io, version, std::make_unique<Value>());
    } catch (...) {
      return nullptr;  // no memory
    }
  };
  Value::type = api::create_data_type(context, Value::type_name, encoding_version, &methods);
  return Value::type != nullptr;
}

}  // namespace tally::redis
