#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "keys.hpp"

namespace tally::python {

/// How errors call a key: "key", or "keys[17]".
struct KeyName {
  const char* field;
  std::size_t index = std::numeric_limits<std::size_t>::max();

  std::string text() const;
};

/// One key that is an object of Python: an integer, or bytes.
class KeyObject {
 public:
  /// `scratch` holds the bytes that are not in the object itself; it must outlive this, and one key at a time uses it.
  KeyObject(PyObject* key, std::string& scratch, KeyName name);

  Hash128 digest(const KeyHasher& hasher) const noexcept {
    return is_integer_ ? hasher(integer_) : hasher(bytes_);
  }

  /// Of an integer its 8 bytes, which are in this.
  std::string_view bytes() const noexcept {
    return is_integer_ ? std::string_view(reinterpret_cast<const char*>(&integer_), sizeof integer_) : bytes_;
  }
  /// Whether bytes() stay where they are as long as the object exists.
  bool is_in_object() const noexcept { return is_in_object_; }

 private:
  void take_integer(PyObject* key, KeyName name);
  void take_text(PyObject* key, std::string& scratch, KeyName name);
  void take_other(PyObject* key, std::string& scratch, KeyName name);

  bool is_integer_ = false;
  bool is_in_object_ = false;
  std::uint64_t integer_ = 0;
  std::string_view bytes_;
};

/// Appends a code point as UTF-8. Throws ValueError for a surrogate, and for a number that no character has.
void append_utf8(std::string& text, std::uint32_t code_point, KeyName name);

}  // namespace tally::python
