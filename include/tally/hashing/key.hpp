#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "tally/detail/little_endian.hpp"
#include "tally/hashing/hash128.hpp"

// Which values are keys, and the bytes that stand for them. docs/library.md has the rule for users.

namespace tally {

class KeyBuilder;

namespace detail {

template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);

template <class T>
inline constexpr bool is_byte = is_one_of<T, std::byte, unsigned char, char>;

template <class T>
inline constexpr bool is_literal = false;
template <std::size_t size>
inline constexpr bool is_literal<const char[size]> = true;

template <class Value>
using ElementOf = std::remove_cv_t<typename decltype(std::span(std::declval<const Value&>()))::element_type>;

}  // namespace detail

/// An integer of at most 64 bits: its 8 little-endian bytes, negative ones sign-extended, so that equal values of any two
/// types are one key. bool and the character types do not count as integers here.
template <class T>
concept IntegerKey = std::integral<T> && sizeof(T) <= 8 &&
                     !detail::is_one_of<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

/// An enumeration: its underlying integer. std::byte does not count as one.
template <class T>
concept EnumKey = std::is_enum_v<T> && !std::is_same_v<T, std::byte> && requires {
  requires IntegerKey<std::underlying_type_t<T>>;
};

/// A string literal, or another constant array of char: all its bytes, but not a NUL at its end. `T` may be a reference.
template <class T>
concept LiteralKey = detail::is_literal<std::remove_reference_t<T>>;

/// What converts to a std::string_view and knows its length: its bytes. A pointer does not know it.
template <class T>
concept TextKey = std::convertible_to<const T&, std::string_view> && !std::is_pointer_v<T> &&
                  !std::is_null_pointer_v<T> && !std::is_array_v<T>;

/// A contiguous range of std::byte, unsigned char or char, such as a std::span, std::vector or std::array, or an array of
/// std::byte or unsigned char: all its bytes.
template <class T>
concept ByteKey = !TextKey<T> && !std::is_same_v<std::remove_extent_t<T>, char> && requires {
  requires detail::is_byte<detail::ElementOf<T>>;
};

/// A key that is text or bytes, so that a structure can store it. `T` may be a reference.
template <class T>
concept RawKey = LiteralKey<T> || TextKey<std::remove_cvref_t<T>> || ByteKey<std::remove_cvref_t<T>>;

/// A type of one's own, with a function append_key(tally::KeyBuilder&, const T&) in its namespace.
template <class T>
concept CustomKey = requires(KeyBuilder& builder, const T& key) {
  append_key(builder, key);
};

namespace detail {

template <class T>
concept KeyValue =
    std::is_same_v<T, Hash128> || IntegerKey<T> || EnumKey<T> || TextKey<T> || ByteKey<T> || CustomKey<T>;

/// One constant, whose name compilers show when a key is refused.
template <class T>
inline constexpr bool is_text_or_bytes_or_integer_or_has_append_key =
    LiteralKey<T> || KeyValue<std::remove_cvref_t<T>>;

}  // namespace detail

/// What every structure takes as a key; `T` may be a reference. Two keys are the same if their bytes are, whatever their
/// types. Not keys: floating-point numbers, bool, characters, pointers, and arrays of char that are not constant (pass a
/// std::string_view, which says how long the text is). A Hash128 is no bytes but their digest.
template <class T>
concept Key = detail::is_text_or_bytes_or_integer_or_has_append_key<T>;

namespace detail {

/// The bytes of a text, a literal or a range of bytes. They are those of `key`, not a copy.
template <class T>
KeyBytes bytes_of(const T& key) noexcept {
  if constexpr (std::is_array_v<T> && std::is_same_v<std::remove_extent_t<T>, char>) {
    constexpr std::size_t size = std::extent_v<T>;
    return std::as_bytes(std::span(key).first(key[size - 1] == '\0' ? size - 1 : size));
  } else if constexpr (TextKey<T>) {
    const std::string_view text = key;
    return std::as_bytes(std::span(text.data(), text.size()));
  } else {
    return std::as_bytes(std::span(key));
  }
}

template <class T>
std::string_view view_of(const T& key) noexcept {
  const KeyBytes bytes = bytes_of(key);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The 64 bits of an integer or an enumeration.
template <class T>
constexpr std::uint64_t bits_of(T key) noexcept {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::underlying_type_t<T>>(key));
  } else {
    return static_cast<std::uint64_t>(key);
  }
}

}  // namespace detail
}  // namespace tally
