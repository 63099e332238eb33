#pragma once

#include <memory>
#include <utility>

#include "any_value.hpp"
#include "call.hpp"
#include "redis_module_api.hpp"
#include "refusal.hpp"

namespace tally::redis {

inline constexpr const char* wrong_type = "WRONGTYPE Operation against a key holding the wrong kind of value";

enum class KeyAccess { read, write };

/// A key of the database, open until the end of the scope.
class OpenKey {
 public:
  OpenKey(const Call& call, KeyAccess access, std::size_t argument = 1)
      : key_(api::open_key(
            call.context(), call.argument(argument),
            api::open_for_reading | (access == KeyAccess::write ? api::open_for_writing : 0))) {}
  ~OpenKey() {
    if (key_ != nullptr) api::close_key(key_);
  }
  OpenKey(const OpenKey&) = delete;
  OpenKey& operator=(const OpenKey&) = delete;

  bool is_empty() const noexcept { return key_ == nullptr || api::key_type(key_) == api::key_type_empty; }

  /// Whether the key has a value of this type; false if it has none.
  template <class Value>
  bool has() const noexcept {
    return !is_empty() && api::get_type(key_) == Value::type;
  }

  /// The value, or nullptr if the key has none. Throws Refusal for a value of another type.
  template <class Value>
  Value* find() const {
    if (is_empty()) return nullptr;
    if (!has<Value>()) throw Refusal(wrong_type);
    return static_cast<Value*>(static_cast<AnyValue*>(api::get_value(key_)));
  }

  /// The same, and throws Refusal(`missing`) if the key has no value, and Refusal for an incomplete one.
  template <class Value>
  Value& get(const char* missing) const {
    Value* value = find<Value>();
    if (value == nullptr) throw Refusal(missing);
    value->require_complete();
    return *value;
  }

  void remove() noexcept { api::delete_key(key_); }

  /// Gives the key this value, which Redis then owns.
  template <class Value>
  Value& set(std::unique_ptr<Value> value) noexcept {
    AnyValue* stored = value.release();
    api::set_value(key_, Value::type, stored);
    return static_cast<Value&>(*stored);
  }

 private:
  api::Key* key_;
};

}  // namespace tally::redis
