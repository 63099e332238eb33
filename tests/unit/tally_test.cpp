#include "tally/tally.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tally/theory.hpp"

namespace tally {
namespace {

using Headers = std::set<std::string>;

std::filesystem::path include_directory() {
  return std::filesystem::path(TALLY_TEST_DATA_DIR) / "../../include";
}

Headers included_by(const std::string& header) {
  Headers included;
  std::ifstream in(include_directory() / header);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#include \"")) included.insert(line.substr(10, line.size() - 11));
  }
  return included;
}

/// What the preprocessor sees of the library.
Headers reached_from(const std::string& header) {
  Headers reached;
  std::vector<std::string> left{header};
  while (!left.empty()) {
    const std::string next = left.back();
    left.pop_back();
    if (!reached.insert(next).second) continue;
    for (const std::string& included : included_by(next)) left.push_back(included);
  }
  return reached;
}

Headers public_headers() {
  Headers headers;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(include_directory())) {
    const std::string name = std::filesystem::relative(entry.path(), include_directory()).generic_string();
    if (name.ends_with(".hpp") && !name.starts_with("tally/detail/")) headers.insert(name);
  }
  return headers;
}

TEST(TallyHeader, AndThatOfTheFormulasReachEveryPublicHeader) {
  Headers reached = reached_from("tally/tally.hpp");
  reached.merge(reached_from("tally/theory.hpp"));
  for (const std::string& header : public_headers()) EXPECT_TRUE(reached.contains(header)) << header;
}

TEST(TallyHeader, IsShort) { EXPECT_LE(included_by("tally/tally.hpp").size(), 35u); }

TEST(TheoryHeader, NeedsNothingElseOfTheLibrary) {
  for (const std::string& header : reached_from("tally/theory.hpp"))
    EXPECT_TRUE(header.starts_with("tally/theory") || header == "tally/export.hpp") << header;
}

}  // namespace
}  // namespace tally
