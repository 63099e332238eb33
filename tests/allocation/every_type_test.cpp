#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

// A new public type is either tried without memory, in a file beside this one, or stands in types_without_memory.txt.

namespace tally::test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void add_words(const std::string& text, std::set<std::string>& words) {
  const auto is_of_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  for (auto at = text.begin(); at != text.end();) {
    const auto first = std::find_if(at, text.end(), is_of_word);
    at = std::find_if_not(first, text.end(), is_of_word);
    words.emplace(first, at);
  }
}

std::set<std::string> public_types() {
  std::set<std::string> types;
  const std::regex definition(R"((?:^|\n)(?:class|struct) (?:TALLY_EXPORT )?(\w+)[^;{]*\{)");
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TALLY_INCLUDE_DIR) / "tally")) {
    if (entry.path().extension() != ".hpp") continue;
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), definition), end; at != end; ++at)
      types.insert((*at)[1]);
  }
  return types;
}

TEST(Allocation, EveryPublicTypeIsTriedOrHasNoMemory) {
  const fs::path here = fs::path(TALLY_TEST_DATA_DIR).parent_path() / "allocation";
  std::set<std::string> words_of_tests;
  for (const auto& entry : fs::directory_iterator(here)) {
    if (entry.path().filename() != "every_type_test.cpp" && entry.path().extension() != ".txt")
      add_words(text_of(entry.path()), words_of_tests);
  }
  std::set<std::string> without_memory;
  std::istringstream lines(text_of(here / "types_without_memory.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') without_memory.insert(line);
  }
  const std::set<std::string> types = public_types();
  EXPECT_GT(types.size(), 80u);
  for (const std::string& type : types) {
    EXPECT_TRUE(words_of_tests.contains(type) || without_memory.contains(type))
        << type << " is neither tried nor in types_without_memory.txt";
  }
  for (const std::string& type : without_memory) {
    EXPECT_TRUE(types.contains(type))
        << "types_without_memory.txt has " << type << ", which is no public type";
  }
}

}  // namespace
}  // namespace tally::test
