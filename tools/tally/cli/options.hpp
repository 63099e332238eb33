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

// The one place where flags that several commands share are declared, and where the
// text of a flag becomes a value. A refused value names the flag, itself and the fix.

namespace tally::cli {

/// Whole numbers that a flag takes, both ends included.
struct CountRange {
  std::uint64_t least = 1;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

/// Real numbers that a flag takes, both ends included.
struct RealRange {
  double least = 0;
  double most = std::numeric_limits<double>::max();
};

/// "10M", "1e6", "3Ki", "42". K M G T P are powers of 1000, Ki Mi Gi Ti Pi of 1024.
/// These throw std::invalid_argument that quotes the text and says what is right.
std::uint64_t parse_count(std::string_view text, CountRange range = {});
/// "64MiB", "1.5GB", "65536": bytes.
std::uint64_t parse_size(std::string_view text, std::uint64_t least = 1);
/// "1%", "0.01", "1e-3": above 0 and below 1.
double parse_rate(std::string_view text);
/// Any finite number in the range.
double parse_real(std::string_view text, RealRange range = {});

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

/// `Target` is an unsigned integer or an optional of one; its own maximum is a limit too.
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
  return app.add_parsed(names, parse, description + range, "SIZE");
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

/// One of a few words; they are listed in the help and offered by the completions.
Option add_choice(CommandLine app, const std::string& names, std::string& target,
                  const std::string& description, const std::vector<std::string>& choices);

/// A path; completed as one. The file need not exist.
Option add_file(CommandLine app, const std::string& names, std::string& target,
                const std::string& description);

Option add_json(CommandLine app, bool& json);
Option add_quiet(CommandLine app, bool& quiet);
Option add_force(CommandLine app, bool& force);
Option add_line_buffered(CommandLine app, bool& line_buffered);
/// --scheme: the name of every scheme of positions, and perhaps of buckets; the default one's if `target` is empty.
enum class SchemesOf { positions, positions_and_buckets, all_structures };
Option add_scheme(CommandLine app, std::string& target, SchemesOf schemes = SchemesOf::positions);

/// The least --memory of a command that keeps digests: their set takes some hundreds of bytes when it is empty.
inline constexpr std::uint64_t least_memory_of_digests = 4096;

/// The seed of every command that writes a filter file or speaks to other nodes, and is not told another, so that
/// files merge: "tally" in ASCII.
inline constexpr std::uint64_t default_seed = 0x74616c6c79;

/// --seed, --key-file and, of a stream, --keyed.
struct HasherOptions {
  std::uint64_t seed = default_seed;
  std::string key_file;
  bool keyed = false;
  bool for_files = false;  ///< a stream ends in a file that is to merge with others

  bool seed_given() const { return seed_option.is_given(); }
  KeyHasher hasher() const;            ///< reads the key file
  std::optional<HashKey> key() const;  ///< nothing without --key-file and a drawn secret

  /// Of a stream, before all else: draws the secret if --keyed is given, or else the seed if none is, there is no key
  /// file and no file is written that is to merge with others.
  void draw();

  Option seed_option;
  std::optional<HashKey> drawn_key;
};
void add_hasher_options(CommandLine app, HasherOptions& options);
/// The same with --keyed; `default_text` says what the seed is if none is given.
void add_stream_hasher_options(CommandLine app, HasherOptions& options,
                               const std::string& default_text = "drawn at random");
/// "seed 42", or "keyed hash": what a stream says in the end, so that a run can be repeated.
std::string hash_text(const KeyHasher& hasher);
/// ", unless keys are chosen against the seed"; nothing for a keyed hash.
std::string_view unless_chosen(const KeyHasher& hasher);
/// --key-file alone, for commands that open a filter file (the file holds the seed).
Option add_key_file(CommandLine app, std::string& key_file);

/// The secret in a file: 32 bytes, or 64 hexadecimal digits (white space after them is let pass).
HashKey read_key_file(const std::string& path);

}  // namespace tally::cli
