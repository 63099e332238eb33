#include "input/printed_key.hpp"

#include "text/key_json.hpp"

namespace tally::cli {

InputOptions PrintedKey::follow(InputOptions input, Output& output) {
  if (has_line_) input.take_header = [this, &output](std::string_view line) { take_header(line, output); };
  return input;
}

void PrintedKey::take_header(std::string_view line, Output& output) {
  if (is_json_) {
    fields_.take_header(line);
  } else if (!has_header_) {
    output.write_key(line);
  }
  has_header_ = true;
}

Json PrintedKey::json(std::string_view text) {
  if (!has_line_) return text_json("key", text);
  Json json = text_json("key", fields_.select(text));
  json.update(text_json("line", text));
  fields_.forget_joined();
  return json;
}

}  // namespace tally::cli
