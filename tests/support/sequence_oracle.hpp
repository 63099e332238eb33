#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::test {

/// What FASTA and FASTQ are, written with the whole text in memory and none of the command's ideas. The letters of every
/// record's sequence, without white space; nothing if it is neither format.
inline std::optional<std::vector<std::string>> sequences_of(std::string_view text) {
  std::vector<std::string> lines;
  const bool ends_in_newline = text.ends_with('\n');
  while (!text.empty()) {
    std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  const auto starts_with_one_of = [&](std::size_t i, std::string_view bytes) {
    return i < lines.size() && !lines[i].empty() && bytes.find(lines[i][0]) != bytes.npos;
  };
  const auto is_white = [](char byte) { return static_cast<unsigned char>(byte) <= ' '; };

  std::vector<std::string> sequences;
  bool all_have_quality = false;
  std::size_t i = 0;
  while (true) {
    while (i < lines.size()) {  // white space may stand before a record
      const auto letter = std::find_if_not(lines[i].begin(), lines[i].end(), is_white);
      lines[i].erase(lines[i].begin(), letter);
      if (!lines[i].empty()) break;
      ++i;
    }
    if (i == lines.size()) return sequences;
    if (!starts_with_one_of(i, ">@")) return std::nullopt;
    const bool is_fastq = lines[i][0] == '@';
    if (sequences.empty()) all_have_quality = is_fastq;
    std::string sequence;
    for (++i; i < lines.size() && !starts_with_one_of(i, ">@+"); ++i) sequence += lines[i];
    const bool plus_line_is_whole = i + 1 < lines.size() || ends_in_newline;
    if (starts_with_one_of(i, "+")) {
      if (!plus_line_is_whole) return std::nullopt;
      std::string quality;
      ++i;
      do {
        if (i < lines.size()) quality += lines[i++];
      } while (i < lines.size() && quality.size() < sequence.size());
      if (quality.size() != sequence.size()) return std::nullopt;
    } else if (is_fastq || all_have_quality) {
      return std::nullopt;
    }
    std::erase_if(sequence, [](char byte) {
      return std::string_view(" \t\r\n\v\f").find(byte) != std::string_view::npos;
    });
    sequences.push_back(sequence);
  }
}

}  // namespace tally::test
