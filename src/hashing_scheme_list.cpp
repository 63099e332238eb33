#include "tally/hashing/scheme_list.hpp"

#include "tally/detail/parameter_error.hpp"

namespace tally {

std::uint16_t scheme_id(std::string_view name) {
  std::uint16_t id = 0;
  std::string names;
  AllSchemes::for_each([&]<class Scheme>(std::type_identity<Scheme>) {
    if (Scheme::name == name) id = Scheme::file_id;
    names.append(names.empty() ? "" : ", ").append(Scheme::name);
  });
  if (id == 0)
    detail::throw_parameter_error("HashScheme", "name", "'" + std::string(name) + "'", "one of " + names);
  return id;
}

std::string_view scheme_name(std::uint16_t id) {
  std::string_view name;
  std::string ids;
  AllSchemes::for_each([&]<class Scheme>(std::type_identity<Scheme>) {
    if (Scheme::file_id == id) name = Scheme::name;
    ids.append(ids.empty() ? "" : ", ").append(std::to_string(Scheme::file_id));
    ids.append(" (").append(Scheme::name).append(")");
  });
  if (name.empty())
    detail::throw_parameter_error("HashScheme", "file_id", std::to_string(id), "one of " + ids);
  return name;
}

}  // namespace tally
