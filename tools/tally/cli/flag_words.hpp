#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include "cli/command_line.hpp"

// The library's errors name its structures and the fields of its requests; users know flags and files.

namespace tally::cli {

/// The message without the structure or function at its start: "BloomFilter: ".
std::string_view without_structure(std::string_view message);

/// A message of the library for the user of `command`: "plan_bloom: num_keys is 0" becomes "--keys is 0", and
/// "remove: a bloom filter does not support this" gets the name of the filter file. A message of the command itself
/// stays unchanged.
std::string in_words_of(CommandLine command, std::string_view message);

/// The error of a refused merge, with the files instead of the library's "here" and "there": "AnyFilter:
/// cannot merge: kind is bloom in 'a' and dleft in 'b'; " and the advice.
std::string difference_text(std::string_view message, const std::string& here, const std::string& there,
                            std::string_view advice);

/// Calls `merge`, which merges one file into another, and returns its result. difference_text words its
/// errors.
template <class Merge>
auto merge_files(const std::string& here, const std::string& there, std::string_view advice, Merge merge) {
  try {
    return merge();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(difference_text(error.what(), here, there, advice));
  }
}

}  // namespace tally::cli
