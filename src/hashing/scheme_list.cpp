#include "tally/hashing/scheme_list.hpp"

#include <span>

#include "tally/detail/parameter_error.hpp"

namespace tally {
namespace {

std::uint16_t id_in(std::span<const NamedScheme> schemes, std::string_view what, std::string_view name) {
  std::string names;
  for (const NamedScheme& scheme : schemes) {
    if (scheme.name == name) return scheme.file_id;
    names.append(names.empty() ? "" : ", ").append(scheme.name);
  }
  detail::throw_parameter_error(what, "name", "'" + std::string(name) + "'", "one of " + names);
}

std::string_view name_in(std::span<const NamedScheme> schemes, std::string_view what, std::uint16_t id) {
  std::string ids;
  for (const NamedScheme& scheme : schemes) {
    if (scheme.file_id == id) return scheme.name;
    ids.append(ids.empty() ? "" : ", ").append(std::to_string(scheme.file_id));
    ids.append(" (").append(scheme.name).append(")");
  }
  detail::throw_parameter_error(what, "file_id", id, "one of " + ids);
}

}  // namespace

std::uint16_t scheme_id(std::string_view name) { return id_in(AllSchemes::names, "HashScheme", name); }
std::string_view scheme_name(std::uint16_t id) { return name_in(AllSchemes::names, "HashScheme", id); }

std::uint16_t bucket_scheme_id(std::string_view name) {
  return id_in(BucketSchemes::names, "BucketScheme", name);
}
std::string_view bucket_scheme_name(std::uint16_t id) {
  return name_in(BucketSchemes::names, "BucketScheme", id);
}

std::uint16_t row_scheme_id(std::string_view name) { return id_in(RowSchemes::names, "RowScheme", name); }
std::string_view row_scheme_name(std::uint16_t id) { return name_in(RowSchemes::names, "RowScheme", id); }

bool is_line_scheme(std::uint16_t id) noexcept {
  return LineSchemes::with_id(id, [](auto) {});
}

PositionLaw position_law(std::uint16_t id) {
  PositionLaw law = PositionLaw::independent;
  const bool found =
      AllSchemes::with_id(id, [&]<class Scheme>(std::type_identity<Scheme>) { law = Scheme::law; });
  if (!found) (void)scheme_name(id);  // throws, and lists the ids
  return law;
}

}  // namespace tally
