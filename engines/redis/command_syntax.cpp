#include "command_syntax.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tally::redis {
namespace {

constexpr std::array integer_names{"capacity", "expansion", "position", "numkeys",     "size",  "iterations",
                                   "width",    "increment", "depth",    "weight",      "slots", "k",
                                   "N",        "sequence",  "oldest",   "milliseconds"};
constexpr std::array real_names{"rate", "error", "probability", "decay"};

bool is_one_of(std::string_view name, const auto& names) {
  return std::ranges::find(names, name) != names.end();
}

/// N and k are names.
bool is_token(std::string_view word) { return word.size() > 1 && std::isupper(word[0]) != 0; }

bool is_name(std::string_view word) { return !word.empty() && std::isalpha(word[0]) != 0 && !is_token(word); }

api::CommandArgument named(const char* name) {
  api::CommandArgument argument;
  argument.name = name;
  const std::string_view text = name;
  if (text == "key" || text == "destination" || text == "source") {
    argument.type = api::type_key;
    argument.key_spec = text == "source" ? 1 : 0;
  } else if (is_one_of(text, integer_names)) {
    argument.type = api::type_integer;
  } else if (is_one_of(text, real_names)) {
    argument.type = api::type_double;
  }
  return argument;
}

}  // namespace

CommandSyntax::CommandSyntax(std::string_view line)
    : rest_(line), arguments_(keep(read_sequence().arguments)) {}

CommandSyntax::Sequence CommandSyntax::read_sequence() {
  Sequence sequence;
  for (std::string_view word = next_word(); !word.empty() && word != "]" && word != ")"; word = next_word()) {
    if (word == "|") {
      sequence.is_choice = true;
    } else if (word == "...") {
      sequence.arguments.back().flags |= api::argument_is_repeated;
    } else if (word == "[" || word == "(") {
      sequence.arguments.push_back(bracketed(read_sequence()));
      if (word == "[") sequence.arguments.back().flags |= api::argument_is_optional;
    } else {
      sequence.arguments.push_back(read_word(word));
    }
  }
  return sequence;
}

api::CommandArgument CommandSyntax::read_word(std::string_view word) {
  if (!is_token(word)) return named(keep(std::string(word)));
  const char* const token = keep(std::string(word));
  api::CommandArgument argument;
  if (is_name(peek())) {
    argument = named(keep(std::string(next_word())));
  } else {
    std::string name(word);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    argument.name = keep(std::move(name));
    argument.type = api::type_token;
  }
  argument.token = token;
  return argument;
}

api::CommandArgument CommandSyntax::bracketed(Sequence sequence) {
  if (sequence.arguments.size() == 1) return sequence.arguments.front();
  std::string name;
  for (const api::CommandArgument& part : sequence.arguments) {
    if (!name.empty()) name += '-';
    name += part.name;
  }
  api::CommandArgument argument;
  argument.name = keep(std::move(name));
  argument.type = sequence.is_choice ? api::type_one_of : api::type_block;
  argument.parts = keep(std::move(sequence.arguments));
  return argument;
}

std::string_view CommandSyntax::peek() const noexcept {
  const std::size_t start = std::min(rest_.find_first_not_of(' '), rest_.size());
  const std::string_view text = rest_.substr(start);
  if (text.empty() || std::string_view("[]()|").find(text[0]) != std::string_view::npos)
    return text.substr(0, 1);
  return text.substr(0, text.find_first_of(" []()|"));
}

std::string_view CommandSyntax::next_word() noexcept {
  const std::string_view word = peek();
  rest_.remove_prefix(static_cast<std::size_t>(word.data() + word.size() - rest_.data()));
  return word;
}

const char* CommandSyntax::keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

api::CommandArgument* CommandSyntax::keep(std::vector<api::CommandArgument> list) {
  list.emplace_back();  // ends it
  return lists_.emplace_back(std::move(list)).data();
}

}  // namespace tally::redis
