#include "cli/options.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "tally/hashing/random_seed.hpp"

namespace tally::cli {

namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view why_and_fix) {
  throw std::invalid_argument(fmt::format("'{}' {}", text, why_and_fix));
}

}  // namespace

Option add_choice(CommandLine app, const std::string& names, std::string& target,
                  const std::string& description, const std::vector<std::string>& choices) {
  return add_choice(
      app, names, [&target](std::string_view text) { target = text; }, description, choices);
}

Option add_choice(CommandLine app, const std::string& names, std::function<void(std::string_view)> choose,
                  const std::string& description, const std::vector<std::string>& choices) {
  const auto parse = [choose = std::move(choose), choices](std::string_view text) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      refuse(text, fmt::format("is not one of: {}", fmt::join(choices, ", ")));
    }
    choose(text);
  };
  return app.add_parsed(names, parse, description, fmt::format("{}", fmt::join(choices, "|")));
}

Option add_file(CommandLine app, const std::string& names, std::string& target,
                const std::string& description) {
  return app.add_option(names, target, description).type_name("FILE");
}

Option add_json(CommandLine app, bool& json) {
  return app.add_flag("--json", json, "Print the result as JSON, with full precision");
}

Option add_explain(CommandLine app, bool& explain) {
  return app
      .add_flag("--explain", explain, R"(
      Print in a paragraph what a run with these options would keep, its plan, its memory and its possible errors;
      read nothing
      )")
      .excludes("--json");
}

Option add_quiet(CommandLine app, bool& quiet) {
  return app.add_flag("-q,--quiet", quiet,
                      "Print no progress bar and no remarks on standard error, only warnings and errors");
}

Option add_force(CommandLine app, bool& force) {
  return app.add_flag("--force", force, "Overwrite the output file if it exists; write even to a terminal");
}

Option add_line_buffered(CommandLine app, bool& line_buffered) {
  return app.add_flag("--line-buffered", line_buffered, R"(
      Flush after every key, even while more input is waiting (slower; without it, output is flushed whenever
      the input pauses)
      )");
}

namespace {

void add_seed_and_key_file(CommandLine app, HasherOptions& options, const std::string& description) {
  const auto parse = [&options](std::string_view text) {
    if (text == "random") {
      options.seed = random_seed();
      return;
    }
    const bool is_hex = text.starts_with("0x");
    const std::string_view digits = text.substr(is_hex ? 2 : 0);
    const char* last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, options.seed, is_hex ? 16 : 10);
    if (error != std::errc{} || end != last)
      refuse(text, "is not a seed; give a number from 0 to 2^64 - 1 (0x... for hexadecimal) or 'random'");
  };
  options.seed_option = app.add_parsed("--seed", parse, description, "NUMBER|random");
  add_key_file(app, options.key_file).excludes(options.seed_option);
}

}  // namespace

void add_hasher_options(CommandLine app, HasherOptions& options) {
  add_seed_and_key_file(
      app, options,
      fmt::format(
          "Seed of the hash, or 'random'; filters can be merged only with the same seed (default: {})",
          default_seed));
}

void add_stream_hasher_options(CommandLine app, HasherOptions& options, const std::string& default_text) {
  add_seed_and_key_file(
      app, options,
      fmt::format("Seed of the hash, as printed in the summary; repeats a run (default: {})", default_text));
  app.add_flag("--keyed", options.keyed,
               "Use a keyed hash with a secret drawn at the start, for keys that an attacker may choose")
      .excludes("--seed")
      .excludes("--key-file");
}

std::string hash_text(const KeyHasher& hasher) {
  return hasher.id() == HashId::xxh3_128 ? fmt::format("seed {}", hasher.seed_or_key_id()) : "keyed hash";
}

std::string_view unless_chosen(const KeyHasher& hasher) {
  return hasher.id() == HashId::xxh3_128 ? ", unless keys are chosen against the seed" : "";
}

std::string_view unless_chosen(const HasherOptions& options) {
  return options.keyed || !options.key_file.empty() ? "" : unless_chosen(KeyHasher(0));
}

Option add_key_file(CommandLine app, std::string& key_file) {
  return add_file(app, "--key-file", key_file, R"(
      Use a keyed hash, for keys that an attacker may choose; the file contains the secret, 32 bytes or 64
      hexadecimal digits
      )");
}

void HasherOptions::draw() {
  if (keyed) {
    drawn_key = random_hash_key();
  } else if (!seed_given() && key_file.empty() && !for_files) {
    seed = random_seed();
  }
}

std::optional<HashKey> HasherOptions::key() const {
  if (key_file.empty()) return drawn_key;
  return read_key_file(key_file);
}

KeyHasher HasherOptions::hasher(const std::optional<HashKey>& secret) const {
  return secret ? KeyHasher::keyed(*secret) : KeyHasher(seed);
}

HashKey read_key_file(const std::string& path) {
  // A pipe (a shell's <(...)) also works: reads up to one byte more than 64 digits and some white space.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), path);
  std::array<char, 80> buffer{};
  std::size_t size = 0;
  ssize_t got = 0;
  while (size < buffer.size() && (got = read(file, buffer.data() + size, buffer.size() - size)) > 0) {
    size += static_cast<std::size_t>(got);
  }
  const int read_error = errno;
  close(file);
  if (got < 0) throw std::system_error(read_error, std::generic_category(), path);

  HashKey key{};
  if (size == key.size()) {
    std::transform(buffer.begin(), buffer.begin() + 32, key.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
    return key;
  }
  while (size > 64 && std::isspace(static_cast<unsigned char>(buffer[size - 1])) != 0) --size;
  bool good = size == 64;
  for (std::size_t i = 0; good && i < key.size(); ++i) {
    unsigned value = 0;
    const char* digits = buffer.data() + 2 * i;
    good = std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
    key[i] = static_cast<std::byte>(value);
  }
  if (!good) {
    throw std::invalid_argument(fmt::format(
        "--key-file: '{}' contains no secret; it must be exactly 32 bytes or 64 hexadecimal digits", path));
  }
  return key;
}

}  // namespace tally::cli
