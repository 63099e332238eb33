#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "running_module.hpp"

namespace tally::test {

/// Those with this name in the file that the last rewrite made.
inline std::vector<Words> commands_of_append_only_file(RunningModule& redis, const std::string& name) {
  const std::filesystem::path directory = std::filesystem::path(redis.socket()).parent_path();
  std::vector<Words> commands;
  for (const auto& entry : std::filesystem::directory_iterator(directory / "appendonlydir")) {
    if (entry.path().string().find(".base.aof") == std::string::npos) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const auto read_length = [&] {
      std::string line;
      return std::getline(file, line) && line.size() > 1 ? std::stoul(line.substr(1)) : 0;
    };
    while (const std::size_t num_words = read_length()) {
      Words words(num_words);
      for (std::string& word : words) {
        word.resize(read_length());
        file.read(word.data(), static_cast<std::streamsize>(word.size()));
        file.ignore(2);
      }
      if (words[0] == name) commands.push_back(words);
    }
  }
  return commands;
}

}  // namespace tally::test
