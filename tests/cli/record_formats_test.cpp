#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "command_runner.hpp"
#include "key_report.hpp"
#include "key_streams.hpp"

// --format: fields of CSV and TSV with quotes, of access logs, of JSON lines, and between blanks.

namespace tally::test {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Texts = std::vector<std::string>;

Texts keys(Texts flags, const std::string& input) {
  flags.insert(flags.begin(), {"over", "1", "-q", "--seed", "1"});
  return split_keys(run_tally(std::move(flags), input).output);
}

const std::string access_line =
    R"log(192.0.2.7 - bob [10/Oct/2000:13:55:36 -0700] "GET /a?q=\"x\" HTTP/1.0" 200 2326 "http://example.com/" "Mozilla/5.0 (X11)")log"s +
    "\n";

TEST(CsvFields, AreReadWithTheirQuotes) {
  const std::string input = "id,name,note\n1,\"Ann, B.\",x\n2,\"the \"\"big\"\" one\",\n3,plain,\"\"\n";
  EXPECT_THAT(keys({"--format", "csv", "-f", "name"}, input),
              ElementsAre("Ann, B.", "the \"big\" one", "plain"));
  EXPECT_THAT(keys({"--format", "csv", "-f", "2", "--header"}, input),
              ElementsAre("Ann, B.", "the \"big\" one", "plain"));
  EXPECT_THAT(keys({"--format", "csv", "-f", "2"}, input),
              ElementsAre("name", "Ann, B.", "the \"big\" one", "plain"));
  EXPECT_THAT(keys({"--format", "csv", "-f", "note"}, input), ElementsAre("x", ""));
  EXPECT_THAT(keys({"--format", "csv", "-f", "note,1"}, input), ElementsAre("1,x", "2,", "3,"));
  EXPECT_THAT(keys({"--format", "csv", "-f", "name,id", "--output-delimiter", " | "}, input),
              ElementsAre("1 | Ann, B.", "2 | the \"big\" one", "3 | plain"));
}

TEST(CsvFields, MayHaveOtherDelimitersAndLineEnds) {
  EXPECT_THAT(keys({"--format", "csv", "-d", ";", "-f", "b"}, "a;b\r\n1;\"x;y\"\r\n2;z\r\n"),
              ElementsAre("x;y", "z"));
  EXPECT_THAT(keys({"--format", "tsv", "-f", "b"},
                   "\xef\xbb\xbf"
                   "b\tc\nx,1\ty\n"),
              ElementsAre("x,1"));
  EXPECT_THAT(keys({"--format", "csv", "-d", "::", "-f", "2-"}, "a::\"b::c\"::d\n"), ElementsAre("b::c::d"));
}

TEST(CsvFields, AreFoundByTheHeaderOfEachFile) {
  const TemporaryDirectory directory;
  const std::string one = directory.write("1.csv", "id,url\n1,/a\n2,/b\n");
  const std::string two = directory.write("2.csv", "url,id,more\n/c,3,x\n");
  const std::string empty = directory.write("3.csv", "");
  EXPECT_THAT(keys({"--format", "csv", "-f", "url", one, two, empty, one}, ""),
              ElementsAre("/a", "/b", "/c"));
  const CommandResult missing = run_tally({"uniq", "--format", "csv", "-f", "more", two, one}, "");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.error,
              AllOf(HasSubstr("1.csv, line 1: the header has no 'more'"), HasSubstr("it has id, url")));
}

TEST(CsvFields, WithWholeLinesKeepTheHeader) {
  const std::string input = "id,url\n1,/a\n2,/a\n3,\"/b\"\n";
  EXPECT_EQ(run_tally({"uniq", "--format", "csv", "-f", "url", "--line"}, input).output,
            "id,url\n1,/a\n3,\"/b\"\n");
  EXPECT_EQ(run_tally({"over", "2", "--format", "csv", "-f", "url", "--line"}, input).output,
            "id,url\n2,/a\n");
  EXPECT_THAT(run_tally({"uniq", "--format", "csv", "-f", "url", "--line", "--json"}, input).output,
              StartsWith("{\"key\":\"/a\",\"line\":\"1,/a\"}\n"));
}

TEST(CsvFields, OfWeightsAndTimesHaveNamesToo) {
  const std::string input =
      "when,bytes,client\n2024-01-01T00:00:00Z,\"7\",a\n2024-01-01T00:00:01Z,5,b\n2024-01-01T00:00:02Z,4,a\n";
  EXPECT_EQ(run_tally({"over", "10", "-c", "--format", "csv", "-f", "client", "--sum", "bytes", "--time",
                       "when", "--window", "1h"},
                      input)
                .output,
            "11\ta\n");
  EXPECT_EQ(run_tally({"over", "10", "-c", "--format", "csv", "-f", "3", "--sum", "bytes"}, input).output,
            "11\ta\n");
  EXPECT_THAT(run_tally({"top", "1", "--format", "csv", "-f", "client", "--sum", "bytes"}, input).output,
              HasSubstr("a"));
}

TEST(AccessLogFields, HaveNamesAndNumbers) {
  EXPECT_THAT(keys({"--format", "combined", "-f", "host"}, access_line), ElementsAre("192.0.2.7"));
  EXPECT_THAT(keys({"--format", "combined", "-f", "4"}, access_line),
              ElementsAre("10/Oct/2000:13:55:36 -0700"));
  EXPECT_THAT(keys({"--format", "combined", "-f", "request"}, access_line),
              ElementsAre(R"(GET /a?q=\"x\" HTTP/1.0)"));
  EXPECT_THAT(keys({"--format", "combined", "-f", "path,status"}, access_line),
              ElementsAre(R"(/a?q=\"x\" 200)"));
  EXPECT_THAT(keys({"--format", "combined", "-f", "agent"}, access_line), ElementsAre("Mozilla/5.0 (X11)"));
  EXPECT_THAT(keys({"--format", "combined", "-f", "method,protocol"}, access_line),
              ElementsAre("GET HTTP/1.0"));
  const std::string common = access_line.substr(0, access_line.find(" \"http")) + "\n";
  EXPECT_THAT(keys({"--format", "combined", "-f", "bytes"}, common), ElementsAre("2326"));
  EXPECT_EQ(run_tally({"over", "2000", "--format", "combined", "-f", "host", "--sum", "bytes", "--time",
                       "time", "--window", "1h"},
                      access_line)
                .output,
            "192.0.2.7\n");
}

TEST(BlankFields, AreDividedByRunsOfBlanks) {
  EXPECT_THAT(keys({"--format", "blank", "-f", "2"}, "  a \t b   c\nx y\n"), ElementsAre("b", "y"));
  EXPECT_THAT(keys({"--format", "blank", "-f", "3,1"}, "a  b\tc\n"), ElementsAre("a c"));
  EXPECT_THAT(keys({"--format", "blank", "-f", "2-"}, " a  b  c \n"), ElementsAre("b c"));
}

TEST(JsonFields, AreFoundByTheirPaths) {
  const std::string input =
      R"({"user":{"id":7,"name":"A\"\u00e9"},"tags":["x","y"],"a.b":true,"e":1e3,"big":18446744073709551615}
{"user":{"id":-8,"name":""},"tags":[],"a.b":false,"e":0.5,"big":0}
)";
  EXPECT_THAT(keys({"--format", "json", "-f", "user.id"}, input), ElementsAre("7", "-8"));
  EXPECT_THAT(keys({"--format", "json", "-f", ".user.name"}, input), ElementsAre("A\"\xc3\xa9", ""));
  EXPECT_THAT(keys({"--format", "json", "-f", "tags.1", "--skip-bad"}, input), ElementsAre("y"));
  EXPECT_THAT(keys({"--format", "json", "-f", "/a.b"}, input), ElementsAre("true", "false"));
  EXPECT_THAT(keys({"--format", "json", "-f", "tags,user.id"}, input),
              ElementsAre("[\"x\",\"y\"] 7", "[] -8"));
  EXPECT_THAT(keys({"--format", "json", "-f", "big"}, input), ElementsAre("18446744073709551615", "0"));
  EXPECT_EQ(
      run_tally({"over", "1", "--format", "json", "-f", "user.name", "--sum", "big", "-q"}, input).output,
      "A\"\xc3\xa9\n");
}

TEST(DelimitersOfSeveralBytes, DivideFields) {
  EXPECT_THAT(keys({"-d", "::", "-f", "2"}, "a::b::c\na:b\nx::\n"), ElementsAre("b", "a:b", ""));
  EXPECT_THAT(keys({"-d", "::", "-f", "1,3"}, "a::b::c\n"), ElementsAre("a::c"));
  EXPECT_THAT(keys({"-d", "::", "-f", "1-2", "--output-delimiter", ","}, "a::b::c\n"), ElementsAre("a,b"));
  EXPECT_THAT(keys({"-d", ",", "-f", "2-", "--output-delimiter", "\t"}, "a,b,c\nd\n"),
              ElementsAre("b\tc", "d"));
}

TEST(CsvFields, AreThoseOfTheRunThatWroteTheState) {
  const TemporaryDirectory directory;
  const auto over = [&](Texts flags, const std::string& input) {
    flags.insert(flags.begin(), {"over", "2", "-q", "--state", directory / "state", "--format", "csv"});
    return run_tally(std::move(flags), input);
  };
  EXPECT_EQ(over({"-f", "url"}, "url,n\n/a,1\n").exit_code, 1);
  EXPECT_EQ(over({"-f", "url"}, "n,url\n1,/a\n").output, "/a\n");
  EXPECT_THAT(over({"-f", "1"}, "").error, HasSubstr("was written with --fields url, but now it is 1"));
  EXPECT_THAT(over({"-f", "url", "--header"}, "").error, HasSubstr("--header"));
  EXPECT_THAT(over({"-f", "url", "--output-delimiter", "+"}, "").error, HasSubstr("--output-delimiter"));
}

struct BadLine {
  Texts flags;
  std::string line;
  std::string why;
};

/// At least a hundred, from a few kinds of damage to each kind of field.
std::vector<BadLine> bad_lines() {
  std::vector<BadLine> list;
  const auto add = [&](const Texts& flags, const Texts& lines, const std::string& why) {
    for (const std::string& line : lines) list.push_back({flags, line, why});
  };
  for (const char* const format : {"csv", "tsv"}) {
    const std::string d = format == "csv"s ? "," : "\t";
    for (const char* const field : {"2", "2-"}) {
      const Texts flags{"--format", format, "-f", field};
      add(flags,
          {"a" + d + "\"b", "a" + d + "b" + d + "\"c", "\"a" + d + "b", "a" + d + "\"b\"\"",
           "a" + d + "\"\xff\0"s, "a" + d + "b" + d + "c" + d + "\"\"\""},
          "a quote is not closed");
      add(flags, {"a" + d + "\"b\"c", "\"a\" " + d + "b", "a" + d + "\"b\"\"\"x" + d},
          "a closing quote is not followed by the delimiter");
      add(flags, {"", "a", "\"a\"", "a b", "\xff", "\0"s}, "field 2 is missing: the line has 1");
    }
    add({"--format", format, "-f", "5"}, {"a" + d + "b", d + d, "a" + d + "\"b\"" + d + "c" + d + "d"},
        "field 5 is missing: the line has ");
  }
  for (const char* const field : {"3", "1,3", "3-"})
    add({"--format", "blank", "-f", field}, {"", "   ", "a b", "a\tb ", " \t a"},
        "is missing: the line has ");
  for (const char* const field : {"agent", "9", "path"})
    add({"--format", "combined", "-f", field}, {"", "a", "1.2.3.4 - - [x] ", "a b c d"},
        "is missing: the line has ");
  for (const char* const field : {"request", "path"})
    add({"--format", "combined", "-f", field},
        {"a - - [10/Oct", "a - - [t] \"GET / HTTP/1.0", "a - - [t] \"GET \\\"", "a - - [t] \"\\"},
        "a quote or bracket is not closed");
  for (const char* const field : {"path", "method", "protocol"})
    add({"--format", "combined", "-f", field},
        {"a - - [t] \"-\" 400 0", "a - - [t] \"\" 400 0", "a - - [t] \"GET /\" 400 0",
         "a - - [t] \"\xff\xfe\" 400 0"},
        "the request is not");
  for (const char* const field : {"a", "/a", "a.b"}) {
    add({"--format", "json", "-f", field},
        {"{", "{\"a\":", "{\"a\":1", "{a:1}", "{\"a\":\"x}", "{\"a\":\"\\q\"}", "{\"a\":\"\xff\"}",
         "{\"a\":01}", "nonsense", "{\"a\":1}}", "{\"a\":1,}", "{\"a\":\"\n\"}"s.substr(0, 6), "\0"s, ""},
        "the line is not JSON");
    add({"--format", "json", "-f", field}, {"{}", "{\"A\":1}", "[]", "1", "\"a\"", "null", "{\"a\":null}"},
        "is missing or null");
  }
  return list;
}

TEST(BadLines, AreRefusedWithTheirPlaceAndSkippedIfThatIsWanted) {
  const std::vector<BadLine> list = bad_lines();
  EXPECT_GE(list.size(), 100);
  const auto good = [](const BadLine& bad) -> std::string {
    const std::string& format = bad.flags[1];
    if (format == "csv") return "x,y,z,p,q\n";
    if (format == "tsv") return "x\ty\tz\tp\tq\n";
    if (format == "blank") return "x y z\n";
    if (format == "combined") return access_line;
    return "{\"a\":{\"b\":5}}\n";
  };
  // Those of a kind are skipped in one run: the good line is printed only if each copy of it between them was counted.
  struct Skipping {
    std::string good, input;
    std::size_t num_bad = 0;
  };
  std::map<Texts, Skipping> kinds;
  for (const BadLine& bad : list) {
    Texts refusing{"over", "2"};
    refusing.insert(refusing.end(), bad.flags.begin(), bad.flags.end());
    const CommandResult refused = run_tally(refusing, good(bad) + bad.line + "\n" + good(bad));
    EXPECT_EQ(refused.exit_code, 2) << bad.line;
    EXPECT_THAT(refused.error,
                AllOf(HasSubstr("tally over: line 2: "), HasSubstr(bad.why), HasSubstr("--skip-bad")))
        << bad.line;
    Skipping& kind = kinds[bad.flags];
    kind.good = good(bad);
    kind.input += bad.line + "\n" + good(bad);
    ++kind.num_bad;
  }
  for (const auto& [flags, kind] : kinds) {
    Texts skipping{"over", std::to_string(kind.num_bad), "--skip-bad", "--line"};
    skipping.insert(skipping.end(), flags.begin(), flags.end());
    const CommandResult skipped = run_tally(skipping, kind.input);
    EXPECT_EQ(skipped.exit_code, 0) << kind.input;
    EXPECT_EQ(skipped.output, kind.good) << kind.input;
    EXPECT_THAT(skipped.error, HasSubstr(" " + std::to_string(kind.num_bad) + " lines skipped"))
        << kind.input;
  }
}

TEST(BadLines, OfGreatLengthTakeNoGreatMemory) {
  const std::string long_line = "{\"a\":\"" + std::string(17 << 20, 'x') + "\"}\n";
  EXPECT_THAT(keys({"--format", "json", "-f", "a", "--skip-bad"}, long_line + "{\"a\":1}\n"),
              ElementsAre("1"));
  EXPECT_THAT(
      keys({"--format", "csv", "-f", "2", "--skip-bad"}, "\"" + std::string(17 << 20, '"') + "\na,b\n"),
      ElementsAre("b"));
}

TEST(BadLines, SlowOfThreeHundredMegabytesAreRefusedWithTheirPlaceAndSkipped) {
  struct Long {
    std::string flags, begin, good;
  };
  for (const Long& bad :
       std::vector<Long>{{"--format csv -f 2", "\"", "a,b"},
                         {"--format tsv -f 2", "a", "a\tb"},
                         {"--format blank -f 2", "a", "a b"},
                         {"--format combined -f bytes", "1.2.3.4 - - [", "1.2.3.4 - - [] \"b\" 1 2"},
                         {"--format json -f a", "{\"a\":\"", "{\"a\":\"b\"}"}}) {
    const std::string lines = "(printf '%s' '" + bad.begin +
                              "'; head -c 300000000 /dev/zero | tr '\\0' x; printf '\\n%s\\n' '" + bad.good +
                              "')";
    const CommandResult refused = run_shell(lines + " | \"$TALLY\" uniq " + bad.flags);
    EXPECT_EQ(refused.exit_code, 2) << bad.flags;
    EXPECT_EQ(refused.output, "") << bad.flags;
    EXPECT_THAT(refused.error, AllOf(HasSubstr("tally uniq: line 1: "), HasSubstr("--skip-bad")))
        << bad.flags;
    EXPECT_LT(refused.error.size(), 1000U) << bad.flags;
    const CommandResult skipped = run_shell(lines + " | \"$TALLY\" uniq --skip-bad --line " + bad.flags);
    EXPECT_EQ(skipped.exit_code, 0) << bad.flags;
    EXPECT_EQ(skipped.output, bad.good + "\n") << bad.flags;
    EXPECT_THAT(skipped.error, HasSubstr("1 lines skipped")) << bad.flags;
  }
}

TEST(BadLines, AreSkippedAndCountedByEveryCommandThatReadsKeys) {
  const TemporaryDirectory directory;
  const std::string filter = directory / "filter";
  const std::string input = "a,1\nb\nc,2\n";
  const Texts fields{"--format", "csv", "-f", "2", "--skip-bad"};
  const auto with = [&](Texts arguments) {
    arguments.insert(arguments.end(), fields.begin(), fields.end());
    return run_tally(arguments, input);
  };
  for (const Texts& command :
       std::vector<Texts>{{"build", "--kind", "counting-bloom", "-n", "10", "-o", filter},
                          {"add", filter},
                          {"query", filter},
                          {"count", filter},
                          {"remove", filter},
                          {"uniq"},
                          {"over", "1"},
                          {"top"}}) {
    const CommandResult result = with(command);
    EXPECT_EQ(result.exit_code, 0) << command.front();
    EXPECT_THAT(result.error, HasSubstr("1 lines skipped")) << command.front();
  }
  EXPECT_EQ(run_for_keys({"over", "1", "--format", "csv", "-f", "2", "--skip-bad"}, input)
                .summary["num_skipped_lines"],
            1);
}

TEST(Formats, RefuseOptionsThatDoNotGoWithThem) {
  const auto error = [](Texts flags) {
    flags.insert(flags.begin(), "uniq");
    const CommandResult result = run_tally(flags, "a\n");
    EXPECT_EQ(result.exit_code, 2);
    return result.error;
  };
  EXPECT_THAT(error({"--format", "csv"}), HasSubstr("--format csv is given, but no field; give --fields"));
  EXPECT_THAT(error({"--format", "json", "-f", "a", "-d", ","}),
              HasSubstr("--delimiter is not for --format json"));
  EXPECT_THAT(error({"--format", "combined", "-f", "nothing"}),
              HasSubstr("has no field 'nothing'; it has host, ident"));
  EXPECT_THAT(error({"--format", "combined", "-f", "10"}), HasSubstr("beyond the 9 fields"));
  EXPECT_THAT(error({"--format", "json", "-f", "a..b"}), HasSubstr("empty part"));
  EXPECT_THAT(error({"--header", "-f", "1"}), HasSubstr("--header is only for"));
  EXPECT_THAT(error({"--format", "csv", "-d", "\"", "-f", "1"}), HasSubstr("--delimiter has a quote"));
  EXPECT_THAT(error({"--format", "xml", "-f", "1"}), HasSubstr("xml"));
  EXPECT_THAT(error({"-f", "name"}), HasSubstr("must be a list such as 2"));
  EXPECT_THAT(error({"--format", "csv", "-f", "a,,b"}), HasSubstr("or of names"));
}

}  // namespace
}  // namespace tally::test
