#include "command_registration.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// What the module tells a server of each version, with functions in place of those of a server.

namespace tally::test {
namespace {

using redis::Command;
using redis::KeyUse;
using redis::Registration;
namespace api = redis::api;

/// What was said about the last command.
struct Said {
  std::vector<std::string> new_categories;
  std::string categories = "none";
  int arity = 0;
};
Said said;

int run_nothing(api::Context*, api::String**, int) { return api::ok; }

class CommandRegistration : public testing::Test {
 protected:
  void SetUp() override {
    said = {};
    api::create_command = [](api::Context*, const char* name, api::CommandFunction, const char*, int, int,
                             int) { return std::string(name) == "TAKEN" ? 1 : api::ok; };
    api::get_command = [](api::Context*, const char*) -> api::RegisteredCommand* { return nullptr; };
    api::set_command_info = [](api::RegisteredCommand*, const api::CommandInfo* info) {
      said.arity = info->arity;
      return api::ok;
    };
    api::set_command_categories = nullptr;
    api::add_category = nullptr;
  }
  void TearDown() override { api::set_command_categories = nullptr; }

  static void has_categories() {
    api::set_command_categories = [](api::RegisteredCommand*, const char* categories) {
      said.categories = categories;
      return api::ok;
    };
  }
  static void has_categories_of_modules() {
    has_categories();
    api::add_category = [](api::Context*, const char* category) {
      said.new_categories.emplace_back(category);
      return 1;  // another module has it
    };
  }
  static Registration registration(const char* flags, const char* name = "BF.ADD") {
    const Command command{name, {run_nothing, -3}, flags, KeyUse::insert, "key item ...", "Add", "O(1)"};
    redis::add_category(nullptr, "bloom");
    return redis::register_command(nullptr, command, name, "bloom");
  }
  static bool registers(const char* flags) { return registration(flags) == Registration::done; }
};

TEST_F(CommandRegistration, AsksForNoCategoriesWhereTheServerHasNone) {
  EXPECT_TRUE(registers("write deny-oom"));
  EXPECT_EQ(said.categories, "none");
  EXPECT_EQ(said.arity, -3);
}

TEST_F(CommandRegistration, LeavesOutTheFamilyWhereModulesHaveNoCategoriesOfTheirOwn) {
  has_categories();
  EXPECT_TRUE(registers("readonly fast"));
  EXPECT_EQ(said.categories, "read fast");
}

TEST_F(CommandRegistration, NamesTheFamilyAlsoIfAnotherModuleHasMadeItsCategory) {
  has_categories_of_modules();
  EXPECT_TRUE(registers("write deny-oom"));
  EXPECT_EQ(said.categories, "write slow bloom");
  EXPECT_EQ(said.new_categories, std::vector<std::string>{"bloom"});
  EXPECT_TRUE(registers("write fast"));
  EXPECT_EQ(said.categories, "write fast bloom");
  EXPECT_TRUE(registers("readonly"));
  EXPECT_EQ(said.categories, "read slow bloom");
}

TEST_F(CommandRegistration, SaysThatTheNameIsTaken) {
  EXPECT_EQ(registration("readonly", "TAKEN"), Registration::name_is_taken);
}

TEST_F(CommandRegistration, SaysThatTheServerRefusesTheDescription) {
  api::set_command_info = [](api::RegisteredCommand*, const api::CommandInfo*) { return 1; };
  EXPECT_EQ(registration("readonly"), Registration::is_not_described);
}

}  // namespace
}  // namespace tally::test
