#include "json_catalogue/catalogue.hpp"

namespace tally::cli {

std::vector<JsonRecord> common_records() {
  return {
      {.name = "key_bytes", .summary = "The key that a line is about", .table = R"(
key | string | | the key; bytes that are not UTF-8 are U+FFFD here
key_hex? | string | hexadecimal digits | all bytes of the key, only if they are not UTF-8
)"},
      {.name = "line_bytes", .summary = "The whole line of a key, with --line", .table = R"(
line? | string | | with --line: the line that the key is from; bytes that are not UTF-8 are U+FFFD here
line_hex? | string | hexadecimal digits | with --line: all bytes of the line, only if they are not UTF-8
)"},
      {.name = "hash", .summary = "How keys were hashed", .table = R"(
hash | string | | name of the hash function: xxh3-128, or highwayhash-128 with a secret key
seed? | integer | | seed of xxh3-128; --seed with it repeats the run
key_id? | integer | | identifies the secret key of highwayhash-128 without telling it
)"},
      {.name = "run", .summary = "How a run that read keys went", .table = R"(
seconds | number | seconds | time from the first to the last line of the input
interrupted | boolean | | whether a signal ended the input; the numbers are those up to there
)"},
  };
}

}  // namespace tally::cli
