#include "../../tools/tally/text/json.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "random.hpp"

// What the command prints as JSON, beside a library that reads and writes it.

namespace tally::cli {
namespace {

using Library = nlohmann::ordered_json;

TEST(Json, PrintsNumbersAsTheLibraryDoes) {
  for (const double value : {0.0, -0.0, 1.0, -1.5, 0.1, 1e-4, 9.999e-5, 1e-5, 123456789012345.0, 1e15,
                             1.5e300, 5e-324, std::numeric_limits<double>::max(), 1.0 / 3}) {
    EXPECT_EQ(Json(value).dump(), Library(value).dump());
  }
  EXPECT_EQ(Json(std::nan("")).dump(), "null");
  EXPECT_EQ(Json(HUGE_VAL).dump(), "null");
  EXPECT_EQ(Json(~std::uint64_t{0}).dump(), "18446744073709551615");
  EXPECT_EQ(Json(std::numeric_limits<std::int64_t>::min()).dump(), "-9223372036854775808");
  EXPECT_EQ(Json(true).dump() + Json(false).dump() + Json().dump(), "truefalsenull");
}

TEST(Json, PrintsEveryNumberSoThatItIsReadBack) {
  test::Random random(1);
  for (int i = 0; i < 100'000; ++i) {
    const double value =
        i % 2 == 0 ? std::bit_cast<double>(random.next())
                   : std::ldexp(static_cast<double>(random.next()), -static_cast<int>(random.below(100)));
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(Library::parse(Json(value).dump()).get<double>(), value);
  }
}

TEST(Json, PrintsTextsAsTheLibraryDoes) {
  test::Random random(2);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::uint64_t length = random.below(8); length > 0; --length) {
      // Often what UTF-8 is made of.
      const std::uint64_t byte = random.next();
      text += static_cast<char>(i % 3 == 0 ? byte % 128 : i % 3 == 1 ? byte : 0x80 | byte);
    }
    bool is_text = true;
    try {
      (void)Library(text).dump();
    } catch (const Library::type_error&) {
      is_text = false;
    }
    ASSERT_EQ(is_utf8(text), is_text);
    if (is_text) {
      ASSERT_EQ(Json(text).dump(), Library(text).dump());
    } else {
      ASSERT_TRUE(Library::accept(Json(text).dump()));
    }
  }
  EXPECT_EQ(Json("a\xff").dump(), "\"a\xef\xbf\xbd\"");
}

TEST(Json, KeepsTheOrderOfMembersAndIndentsAsTheLibraryDoes) {
  Json own{{"b", 1}, {"a", {1, "two", nullptr}}, {"empty", Json::array()}, {"none", Json::object()}};
  own["inner"] = {{"x", 0.5}, {"list", std::vector<std::uint64_t>{1, 2}}};
  own.update({{"b", "new"}, {"last", true}});
  Library theirs{
      {"b", 1}, {"a", {1, "two", nullptr}}, {"empty", Library::array()}, {"none", Library::object()}};
  theirs["inner"] = {{"x", 0.5}, {"list", std::vector<std::uint64_t>{1, 2}}};
  theirs.update(Library{{"b", "new"}, {"last", true}});
  EXPECT_EQ(own.dump(), theirs.dump());
  EXPECT_EQ(own.dump(2), theirs.dump(2));
  std::istringstream in(own.dump(2));
  EXPECT_EQ(Json::parse(in).dump(), own.dump());
}

TEST(Json, RefusesWhatIsNoJsonAndWhatIsNestedWithoutEnd) {
  for (const std::string& text :
       std::vector<std::string>{"{", "[1,]", "", std::string(10'000'000, '['), "\"\xff\""}) {
    std::istringstream in(text);
    EXPECT_THROW(Json::parse(in), std::invalid_argument) << text.substr(0, 10);
  }
}

}  // namespace
}  // namespace tally::cli
