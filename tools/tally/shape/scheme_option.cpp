#include "shape/scheme_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tally::cli {

std::vector<std::string> scheme_names(FilterKind kind) {
  std::vector<std::string> names;
  const auto add = [&](auto scheme) { names.emplace_back(decltype(scheme)::type::name); };
  switch (kind) {
    case FilterKind::dleft:
      BucketSchemes::for_each(add);
      break;
    case FilterKind::count_min:
      RowSchemes::for_each(add);
      break;
    case FilterKind::blocked_bloom:
      break;
    default:
      CounterSchemes::for_each(add);
  }
  return names;
}

std::uint16_t scheme_id_for(FilterKind kind, const std::string& name) {
  if (kind == FilterKind::blocked_bloom) {
    if (!name.empty())
      throw std::invalid_argument("--scheme: a blocked-bloom filter has one scheme only; leave it out");
    return BlockedScheme::file_id;
  }
  const std::vector<std::string> names = scheme_names(kind);
  if (!name.empty() && std::ranges::find(names, name) == names.end()) {
    throw std::invalid_argument(fmt::format("--scheme: '{}' is no scheme of a {} filter; must be one of {}",
                                            name, name_of(kind), fmt::join(names, ", ")));
  }
  switch (kind) {
    case FilterKind::dleft:
      return name.empty() ? RotationBuckets::file_id : bucket_scheme_id(name);
    case FilterKind::count_min:
      return name.empty() ? DefaultRows::file_id : row_scheme_id(name);
    default:
      return name.empty() ? DefaultScheme::file_id : scheme_id(name);
  }
}

}  // namespace tally::cli
