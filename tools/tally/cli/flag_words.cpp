#include "cli/flag_words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace tally::cli {
namespace {

using Texts = std::pair<std::string_view, std::string_view>;

// Fields whose flag has another name; the first flag that the command has is used. For all other fields the
// flag is "--" and the field's name.
constexpr std::array<Texts, 11> flags_of_fields{{{"num_keys", "--keys"},
                                                 {"num_keys", "--size"},
                                                 {"memory_bytes", "--memory"},
                                                 {"num_bits", "--num-positions"},
                                                 {"num_counters", "--num-positions"},
                                                 {"max_threshold", "--threshold"},
                                                 {"num_copies", "--copies"},
                                                 {"num_frequent_keys", "--frequent-keys"},
                                                 {"num_insertions", "--insertions"},
                                                 {"num_insertions", "--keys"},
                                                 {"average_load", "--load"}}};

constexpr std::array<Texts, 2> plain_phrases{
    {{"72057594037927936", "2^56"}, {"18446744073709551615", "2^64 - 1"}}};

// What a filter of another kind cannot do, as throw_unsupported names it.
constexpr std::array<Texts, 6> operations{
    {{"add with weights", "cannot add numbers to counts (--sum)"},
     {"remove", "cannot remove keys"},
     {"halve", "cannot halve counts"},
     {"at_least", "cannot count how often a key was added (--at-least)"},
     {"count", "cannot count"},
     {"estimate", "cannot bound a count (--bounds)"}}};

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// "plan", "plan_bloom", "BloomFilter": the names by which the library's messages begin. The command's own
/// messages begin with a flag, a quoted file or plain words.
bool is_structure(std::string_view word) {
  const auto is_capital = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  if (std::ranges::all_of(word, is_capital)) return false;  // "NAME"
  if (word.empty() || !std::ranges::all_of(word, is_of_word)) return false;
  return word == "plan" || word.find('_') != std::string_view::npos ||
         (is_capital(word[0]) && std::ranges::count_if(word, is_capital) > 1);
}

/// The flag of a field; if it has none, its name in words: "number of cells".
std::string flag_or_words(CommandLine command, std::string_view field) {
  const auto has = [&](const std::string& flag) { return command.has_option(flag); };
  std::string words(field);
  std::ranges::replace(words, '_', '-');
  if (has("--" + words)) return "--" + words;
  for (const auto& [name, flag] : flags_of_fields) {
    if (name == field && has(std::string(flag))) return std::string(flag);
  }
  std::ranges::replace(words, '-', ' ');
  return words.starts_with("num ") ? "number of " + words.substr(4) : words;
}

/// Replaces every field's name: the first word, before " is ", or any word with an underscore, but nothing in
/// quotes.
std::string with_flags(CommandLine command, std::string_view message) {
  std::string text;
  bool is_quoted = false;
  for (std::size_t at = 0; at < message.size();) {
    std::size_t end = at;
    while (end < message.size() && is_of_word(message[end])) ++end;
    if (end == at) {
      is_quoted = is_quoted != (message[at] == '\'');
      text += message[at++];
      continue;
    }
    const std::string_view word = message.substr(at, end - at);
    const bool is_field =
        word.find('_') != std::string_view::npos || (at == 0 && message.substr(end).starts_with(" is "));
    text += is_field && !is_quoted ? flag_or_words(command, word) : std::string(word);
    at = end;
  }
  return text;
}

std::string with_plain_phrases(std::string text) {
  for (const auto& [phrase, plain] : plain_phrases) {
    for (std::size_t at = 0; (at = text.find(phrase, at)) != std::string::npos; at += plain.size())
      text.replace(at, phrase.size(), plain);
  }
  return text;
}

/// "'names.tally' is a bloom filter and cannot remove keys; use a counting-bloom or dleft filter"
std::string unsupported_text(CommandLine command, std::string_view message) {
  constexpr std::string_view before_kind = ": a ";
  constexpr std::string_view after_kind = " filter does not support this; ";
  const std::vector<std::string> file = command.values_of("filter");
  for (const auto& [operation, cannot] : operations) {
    if (file.empty() || !message.starts_with(operation)) continue;
    const std::string_view rest = message.substr(operation.size());
    const std::size_t end = rest.find(after_kind);
    if (!rest.starts_with(before_kind) || end == std::string_view::npos) continue;
    return fmt::format("'{}' is a {} filter and {}; {}", file.front(),
                       rest.substr(before_kind.size(), end - before_kind.size()), cannot,
                       rest.substr(end + after_kind.size()));
  }
  return "";
}

}  // namespace

std::string_view without_structure(std::string_view message) {
  const std::size_t end = message.find(": ");
  return end != std::string_view::npos && is_structure(message.substr(0, end)) ? message.substr(end + 2)
                                                                               : message;
}

std::string in_words_of(CommandLine command, std::string_view message) {
  std::string text = unsupported_text(command, message);
  if (!text.empty()) return text;
  if (message.ends_with("; give that key")) return std::string(message) + " with --key-file";
  const std::string_view rest = without_structure(message);
  if (rest.size() == message.size() || command.was_given(message.substr(0, message.find(": "))))
    return std::string(message);
  return with_plain_phrases(with_flags(command, rest));
}

std::string difference_text(std::string_view message, const std::string& here, const std::string& there,
                            std::string_view advice) {
  std::string text(message);
  const auto put_name = [&](std::string_view word, const std::string& name) {
    if (const std::size_t at = text.find(word); at != std::string::npos)
      text.replace(at, word.size(), fmt::format(" in '{}'{}", name, word.back()));
  };
  put_name(" there;", there);
  put_name(" here ", here);
  constexpr std::string_view advice_of_the_library = "make both with the same";
  if (text.ends_with(advice_of_the_library))
    text.replace(text.size() - advice_of_the_library.size(), advice_of_the_library.size(), advice);
  return text;
}

}  // namespace tally::cli
