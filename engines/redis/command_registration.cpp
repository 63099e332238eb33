#include "command_registration.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "command_syntax.hpp"

namespace tally::redis {
namespace {

constexpr const char* first_version = "0.1.0";

api::KeySpec key_at(int position, std::uint64_t flags) {
  api::KeySpec spec;
  spec.flags = flags;
  spec.begin_search = api::begin_at_position;
  spec.position = position;
  spec.find_keys = api::find_range;
  spec.find[1] = 1;
  return spec;
}

std::uint64_t first_key_flags(KeyUse use) {
  switch (use) {
    case KeyUse::none:
    case KeyUse::read:
      return api::key_is_read | api::reads_data;
    case KeyUse::insert:
      return api::key_is_changed | api::inserts_data;
    case KeyUse::update:
    case KeyUse::merge:
      return api::key_is_changed | api::updates_data;
    case KeyUse::read_and_update:
      return api::key_is_changed | api::reads_data | api::updates_data;
    case KeyUse::remove:
      return api::key_is_changed | api::deletes_data;
    case KeyUse::merge_counted:
      return api::key_is_overwritten | api::updates_data;
  }
  return 0;
}

/// The last one is empty.
using KeySpecs = std::array<api::KeySpec, 3>;

KeySpecs key_specs(KeyUse use) {
  KeySpecs specs;
  if (use == KeyUse::none) return specs;
  specs[0] = key_at(1, first_key_flags(use));
  if (use == KeyUse::merge || use == KeyUse::merge_counted) {
    specs[1] = key_at(2, api::key_is_read | api::reads_data);
  }
  if (use == KeyUse::merge) specs[1].find[0] = -1;
  if (use == KeyUse::merge_counted) {
    specs[1].find_keys = api::find_number_of_keys;
    specs[1].find[1] = 1;
    specs[1].find[2] = 1;
  }
  return specs;
}

bool document(api::RegisteredCommand* registered, const Command& command) {
  static constexpr api::CommandInfoVersion version;
  KeySpecs specs = key_specs(command.keys);
  CommandSyntax syntax(command.syntax);
  api::CommandInfo info;
  info.version = &version;
  info.summary = command.summary;
  info.complexity = command.complexity;
  info.since = first_version;
  info.arity = command.entry.arity;
  info.key_specs = specs.data();
  info.arguments = syntax.arguments();
  return api::set_command_info(registered, &info) == api::ok;
}

/// Redis 7.0 has no categories of commands of modules.
bool categorize(api::RegisteredCommand* registered, const Command& command, const char* category) {
  if (api::set_command_categories == nullptr) return true;
  const std::string_view flags = command.flags;
  std::string categories = flags.starts_with("write") ? "write" : "read";
  categories += flags.ends_with("fast") ? " fast" : " slow";
  if (api::add_category != nullptr) categories.append(" ").append(category);
  return api::set_command_categories(registered, categories.c_str()) == api::ok;
}

}  // namespace

void add_category(api::Context* context, const char* category) noexcept {
  // It fails if another module has made the category, and that is as good.
  if (api::add_category != nullptr) (void)api::add_category(context, category);
}

Registration register_command(api::Context* context, const Command& command, const char* name,
                              const char* category) {
  if (api::create_command(context, name, command.entry.function, command.flags, 0, 0, 0) != api::ok)
    return Registration::name_is_taken;
  api::RegisteredCommand* const registered = api::get_command(context, name);
  const bool is_described = document(registered, command) && categorize(registered, command, category);
  return is_described ? Registration::done : Registration::is_not_described;
}

}  // namespace tally::redis
