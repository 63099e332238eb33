#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "cli/command_line.hpp"

#include "tally/hashing/key_hasher.hpp"
#include "text/duration.hpp"
#include "text/numbers.hpp"
#include "text/wrapped.hpp"

// Declares the flags that several commands share, and turns the text of a flag into a value. The error for a
// refused value names the flag, the value and the fix.

namespace tally::cli {

namespace detail {
template <class Target>
struct ValueOf {
  using type = Target;
};
template <class Value>
struct ValueOf<std::optional<Value>> {
  using type = Value;
};
}  // namespace detail

/// `Target` is an unsigned integer or an optional of one; its maximum is also a limit.
template <class Target>
Option add_count(CommandLine app, const std::string& names, Target& target, const std::string& description,
                 CountRange range = {}) {
  using Value = typename detail::ValueOf<Target>::type;
  range.most = std::min<std::uint64_t>(range.most, std::numeric_limits<Value>::max());
  const auto parse = [&target, range](std::string_view text) {
    target = static_cast<Value>(parse_count(text, range));
  };
  return app.add_parsed(names, parse, description, "NUMBER");
}

/// A number of bytes; `Target` is std::uint64_t or an optional of it.
template <class Target>
Option add_size(CommandLine app, const std::string& names, Target& target, const std::string& description,
                std::uint64_t least = 1) {
  const auto parse = [&target, least](std::string_view text) { target = parse_size(text, least); };
  const std::string range = least > 1 ? "; at least " + std::to_string(least) : "";
  return app.add_parsed(names, parse, unfolded(description) + range, "SIZE");
}

/// A probability; `Target` is double or an optional of it.
template <class Target>
Option add_rate(CommandLine app, const std::string& names, Target& target, const std::string& description) {
  const auto parse = [&target](std::string_view text) { target = parse_rate(text); };
  return app.add_parsed(names, parse, description, "RATE");
}

/// `Target` is double or an optional of it.
template <class Target>
Option add_real(CommandLine app, const std::string& names, Target& target, const std::string& description,
                RealRange range = {}) {
  const auto parse = [&target, range](std::string_view text) { target = parse_real(text, range); };
  return app.add_parsed(names, parse, description, "NUMBER");
}

/// A time such as "10m"; `Target` is Nanoseconds or an optional of it.
template <class Target>
Option add_duration(CommandLine app, const std::string& names, Target& target,
                    const std::string& description) {
  const auto parse = [&target](std::string_view text) { target = parse_duration(text); };
  return app.add_parsed(names, parse, description, "TIME");
}

/// One of a few words, which the help lists and the completions offer.
Option add_choice(CommandLine app, const std::string& names, std::string& target,
                  const std::string& description, const std::vector<std::string>& choices);
/// The same; `choose` is called with the word.
Option add_choice(CommandLine app, const std::string& names, std::function<void(std::string_view)> choose,
                  const std::string& description, const std::vector<std::string>& choices);

/// A path, and completed as one. The file need not exist.
Option add_file(CommandLine app, const std::string& names, std::string& target,
                const std::string& description);

Option add_json(CommandLine app, bool& json);
/// After add_json, which it excludes.
Option add_explain(CommandLine app, bool& explain);
Option add_quiet(CommandLine app, bool& quiet);
Option add_force(CommandLine app, bool& force);
Option add_line_buffered(CommandLine app, bool& line_buffered);

/// The smallest --memory of a command that stores digests: their set takes some hundreds of bytes when it is empty.
inline constexpr std::uint64_t least_memory_of_digests = 4096;

/// The default seed of every command that writes a filter file or talks to other nodes, so that files can be
/// merged: "tally" in ASCII.
inline constexpr std::uint64_t default_seed = 0x74616c6c79;

/// --seed, --key-file and, for a stream, --keyed.
struct HasherOptions {
  std::uint64_t seed = default_seed;
  std::string key_file;
  bool keyed = false;
  bool for_files = false;  ///< a stream writes a file that will be merged with others

  bool seed_given() const { return seed_option.is_given(); }
  KeyHasher hasher() const { return hasher(key()); }  ///< reads the key file
  /// With a secret that `key` has returned: a key file may be a pipe, which is read once.
  KeyHasher hasher(const std::optional<HashKey>& secret) const;
  std::optional<HashKey> key() const;  ///< empty without --key-file and a drawn secret

  /// For a stream, before everything else. With --keyed, draws the secret. Otherwise draws the seed, unless a
  /// seed or a key file is given or the stream writes a file that will be merged with others.
  void draw();

  Option seed_option;
  std::optional<HashKey> drawn_key;
};
void add_hasher_options(CommandLine app, HasherOptions& options);
/// The same with --keyed; `default_text` describes the seed if none is given.
void add_stream_hasher_options(CommandLine app, HasherOptions& options,
                               const std::string& default_text = "drawn at random");
/// "seed 42", or "keyed hash": what a stream prints at the end, so that a run can be repeated.
std::string hash_text(const KeyHasher& hasher);
/// ", unless keys are chosen against the seed"; empty for a keyed hash.
std::string_view unless_chosen(const KeyHasher& hasher);
std::string_view unless_chosen(const HasherOptions& options);
/// --key-file alone, for commands that open a filter file (the file holds the seed).
Option add_key_file(CommandLine app, std::string& key_file);

/// The secret in a file: 32 bytes, or 64 hexadecimal digits (white space after them is ignored).
HashKey read_key_file(const std::string& path);

}  // namespace tally::cli
