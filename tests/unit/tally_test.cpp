#include "tally/tally.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace tally {
namespace {

TEST(TallyHeader, IncludesEveryPublicHeader) {
  const std::filesystem::path include = std::filesystem::path(TALLY_TEST_DATA_DIR) / "../../include";
  std::set<std::string> headers;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(include)) {
    const std::string name = std::filesystem::relative(entry.path(), include).generic_string();
    const bool is_public = entry.path().extension() == ".hpp" && !name.starts_with("tally/detail/");
    if (is_public && name != "tally/tally.hpp") headers.insert(name);
  }
  std::set<std::string> included;
  std::ifstream in(include / "tally/tally.hpp");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#include \"")) included.insert(line.substr(10, line.size() - 11));
  }
  EXPECT_EQ(included, headers);
}

}  // namespace
}  // namespace tally
