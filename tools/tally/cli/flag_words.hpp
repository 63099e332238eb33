#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include "cli/command_line.hpp"

// The library's errors name its structures and the fields of its requests; users know flags and files.

namespace tally::cli {

/// The message without the structure or function that it begins with: "BloomFilter: ".
std::string_view without_structure(std::string_view message);

/// A message of the library for who called `command`: "plan_bloom: num_keys is 0" as "--keys is 0", and "remove: a bloom
/// filter has none" with the name of the filter file. A message of the command itself stays as it is.
std::string in_words_of(CommandLine command, std::string_view message);

/// A refused merge with the files in place of the library's 'here' and 'there': "AnyFilter: cannot merge: kind is bloom in
/// 'a' and dleft in 'b'; " and the advice.
std::string difference_text(std::string_view message, const std::string& here, const std::string& there,
                            std::string_view advice);

/// What `merge` returns, which merges one file's content with another's; what it throws is in words of the files.
template <class Merge>
auto merge_files(const std::string& here, const std::string& there, std::string_view advice, Merge merge) {
  try {
    return merge();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(difference_text(error.what(), here, there, advice));
  }
}

}  // namespace tally::cli
