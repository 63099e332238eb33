// Help, man pages, completions and the generated pages of docs/.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "command_pages.hpp"
#include "command_runner.hpp"
#include "key_streams.hpp"

namespace tally::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Documents : public ::testing::Test {
 protected:
  TemporaryDirectory directory;
};

TEST_F(Documents, TheDocumentOfTheCommandIsUpToDate) {
  const std::string path = std::string(TALLY_TEST_DATA_DIR) + "/../../docs/cli.md";
  EXPECT_EQ(read_file(path), run_tally({"--generate", "markdown"}).output)
      << "run: tally --generate markdown > docs/cli.md";
}

TEST_F(Documents, ThePageOfTheJsonIsUpToDate) {
  const std::string path = std::string(TALLY_TEST_DATA_DIR) + "/../../docs/json.md";
  EXPECT_EQ(read_file(path), run_tally({"--generate", "json"}).output)
      << "run: tally --generate json > docs/json.md";
}

class Completions : public Documents, public testing::WithParamInterface<std::string> {};

TEST_P(Completions, AreAcceptedByTheShell) {
  const std::string& shell = GetParam();
  const std::string script = run_tally({"--generate", shell}).output;
  EXPECT_THAT(script, HasSubstr("blocked-bloom"));
  if (run_shell("command -v " + shell).exit_code != 0) GTEST_SKIP() << shell << " is not installed";
  const CommandResult result = run_program({shell, "-n", directory.write(shell, script)});
  EXPECT_EQ(result.exit_code, 0) << result.error;
}

INSTANTIATE_TEST_SUITE_P(Shells, Completions, testing::Values("bash", "zsh", "fish"));

TEST_F(Documents, BashCompletesCommandsOptionsAndChoices) {
  if (run_shell("command -v bash").exit_code != 0) GTEST_SKIP() << "no bash";
  const std::string script = directory.write("bash", run_tally({"--generate", "bash"}).output);
  const auto complete = [&](const std::string& words) {
    return run_program({"bash", "-c",
                        "source " + script + "; COMP_WORDS=(" + words +
                            "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tally; echo ${COMPREPLY[@]}"})
        .output;
  };
  EXPECT_EQ(complete("tally que"), "query\n");
  EXPECT_EQ(complete("tally build --mem"), "--memory\n");
  EXPECT_EQ(complete("tally build --kind b"), "bloom blocked-bloom blocked-counting-bloom\n");
  EXPECT_EQ(complete("tally theory kappa"), "kappa-star\n");
  EXPECT_EQ(complete("tally --generate json"), "json json-schema\n");
  EXPECT_EQ(complete("tally over " + directory.write("some-file", "")), directory / "some-file" + "\n");
  EXPECT_EQ(complete("tally over 3 --fields k"), "\n");
}

TEST_F(Documents, EveryShellCompletesEveryFormula) {
  std::vector<std::string> names;
  for (const auto& formula : nlohmann::json::parse(run_tally({"theory", "--json"}).output))
    names.push_back(formula["formula"]);
  ASSERT_GT(names.size(), 30U);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : " ") + name;
  EXPECT_THAT(run_tally({"--generate", "bash"}).output, HasSubstr(" words='" + list + " "));
  EXPECT_THAT(run_tally({"--generate", "zsh"}).output, HasSubstr("'*:argument:(" + list + ")'"));
  EXPECT_THAT(run_tally({"--generate", "fish"}).output, HasSubstr("from theory' -a '" + list + "'"));
  if (run_shell("command -v fish").exit_code != 0) GTEST_SKIP() << "no fish";
  const std::string script = directory.write("fish", run_tally({"--generate", "fish"}).output);
  const CommandResult found =
      run_program({"fish", "--no-config", "-c", "source " + script + "; complete -C 'tally theory kappa'"});
  EXPECT_EQ(found.output, "kappa-star\n") << found.error;
}

TEST_F(Documents, EveryManPageHasNoRoffWarningsAndNamesPagesThatExist) {
  const std::string program = run_tally({"--generate", "man"}).output;
  std::map<std::string, std::string> pages{{"tally", program}};
  for (const auto& [command, text] : command_pages()) {
    if (command.find(' ') != std::string::npos) continue;  // on the page of its command
    const CommandResult page = run_tally({"--generate", "man", "--of", command});
    EXPECT_EQ(page.exit_code, 0) << command;
    EXPECT_THAT(page.output, AllOf(HasSubstr(".SH SYNOPSIS\n"), HasSubstr(".SH OPTIONS\n"))) << command;
    EXPECT_THAT(program, HasSubstr(".BR tally\\-" + command + " (1)"));
    pages["tally\\-" + command] = page.output;
  }
  for (const auto& [name, text] : pages) {
    std::istringstream lines(text.substr(text.find("\"SEE ALSO\"")));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(".BR ")) continue;
      EXPECT_TRUE(pages.contains(line.substr(4, line.find(" (1)") - 4))) << line;
    }
  }
  if (run_shell("command -v groff").exit_code != 0) GTEST_SKIP() << "no groff";
  for (const auto& [name, text] : pages) {
    const CommandResult result =
        run_program({"groff", "-ww", "-man", "-Tutf8", directory.write("page.1", text)});
    EXPECT_THAT(result.error, IsEmpty()) << name;
    EXPECT_THAT(result.output, Not(IsEmpty())) << name;
  }
}

TEST_F(Documents, AManPageOfNoCommandIsRefused) {
  EXPECT_THAT(run_tally({"--generate", "man", "--of", "oven"}).error,
              HasSubstr("--of: 'oven' is not one of: plan, "));
  EXPECT_THAT(run_tally({"--generate", "bash", "--of", "over"}).error,
              HasSubstr("--of: it is for --generate man"));
  EXPECT_EQ(run_tally({"--of", "over"}).exit_code, 2);
}

// Those of squid are its actions.
TEST_F(Documents, EveryCommandSaysWithWhichStatusItEnds) {
  for (const auto& [command, page] : command_pages()) {
    if (command == "squid") continue;
    EXPECT_THAT(page, AllOf(HasSubstr("Exit status: 0 "), ContainsRegex(", 2\\s+after"))) << command;
    std::vector<std::string> words = split_keys(command, ' ');
    words.emplace_back("--no-such-option");
    EXPECT_EQ(run_tally(words).exit_code, 2) << command;
    words.back() = "--help";
    EXPECT_THAT(run_tally(words).output, HasSubstr("Exit status: 0 ")) << command;
    if (words.size() > 2) continue;
    EXPECT_THAT(run_tally({"--generate", "man", "--of", command}).output,
                HasSubstr(".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\n"))
        << command;
  }
}

// The texts are raw strings over several lines of the source.
TEST_F(Documents, ADescriptionIsOneLineThatBeginsWithACapitalLetter) {
  std::istringstream lines(run_tally({"--generate", "markdown"}).output);
  std::size_t num_descriptions = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    ++num_descriptions;
    ASSERT_TRUE(line.ends_with(" |")) << line;
    EXPECT_EQ(line.find("  "), std::string::npos) << line;
    EXPECT_FALSE(line.ends_with(". |")) << line;
    const char first = line[line.find("` | ") + 4];
    EXPECT_FALSE(first >= 'a' && first <= 'z') << line;
  }
  EXPECT_GT(num_descriptions, 100U);
}

TEST_F(Documents, EveryCommandHasHelpWithExamples) {
  for (const char* command : {"build", "add", "remove", "query", "count", "merge", "info"}) {
    const CommandResult result = run_tally({command, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("Usage: tally "), HasSubstr("Examples:"), HasSubstr("Exit status")));
  }
}

}  // namespace
}  // namespace tally::test
