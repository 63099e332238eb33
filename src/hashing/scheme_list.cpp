#include "tally/hashing/scheme_list.hpp"

#include "tally/detail/parameter_error.hpp"

namespace tally {
namespace {

template <class Schemes>
std::uint16_t id_in(std::string_view what, std::string_view name) {
  std::uint16_t id = 0;
  std::string names;
  Schemes::for_each([&]<class Scheme>(std::type_identity<Scheme>) {
    if (Scheme::name == name) id = Scheme::file_id;
    names.append(names.empty() ? "" : ", ").append(Scheme::name);
  });
  if (id == 0) detail::throw_parameter_error(what, "name", "'" + std::string(name) + "'", "one of " + names);
  return id;
}

template <class Schemes>
std::string_view name_in(std::string_view what, std::uint16_t id) {
  std::string_view name;
  std::string ids;
  Schemes::for_each([&]<class Scheme>(std::type_identity<Scheme>) {
    if (Scheme::file_id == id) name = Scheme::name;
    ids.append(ids.empty() ? "" : ", ").append(std::to_string(Scheme::file_id));
    ids.append(" (").append(Scheme::name).append(")");
  });
  if (name.empty()) detail::throw_parameter_error(what, "file_id", std::to_string(id), "one of " + ids);
  return name;
}

}  // namespace

std::uint16_t scheme_id(std::string_view name) { return id_in<AllSchemes>("HashScheme", name); }
std::string_view scheme_name(std::uint16_t id) { return name_in<AllSchemes>("HashScheme", id); }

std::uint16_t bucket_scheme_id(std::string_view name) { return id_in<BucketSchemes>("BucketScheme", name); }
std::string_view bucket_scheme_name(std::uint16_t id) { return name_in<BucketSchemes>("BucketScheme", id); }

std::uint16_t row_scheme_id(std::string_view name) { return id_in<RowSchemes>("RowScheme", name); }
std::string_view row_scheme_name(std::uint16_t id) { return name_in<RowSchemes>("RowScheme", id); }

}  // namespace tally
