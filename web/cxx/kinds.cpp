#include "functions.hpp"
#include "tally/hashing/scheme_list.hpp"
#include "tally/shapes/filter_kind.hpp"

namespace tally::page {

bool has_summary(FilterKind kind) noexcept {
  return kind == FilterKind::bloom || kind == FilterKind::blocked_bloom ||
         kind == FilterKind::counting_bloom || kind == FilterKind::dleft;
}

Json kinds(const Json&) {
  Json list = Json::array();
  for (const KindTraits& traits : all_kinds()) {
    std::string_view default_scheme;
    for (const NamedScheme& scheme : traits.schemes)
      if (scheme.file_id == traits.default_scheme_id) default_scheme = scheme.name;
    list.push_back({{"name", traits.name},
                    {"structure", traits.structure},
                    {"default_scheme", default_scheme},
                    {"can_remove", traits.can_remove},
                    {"can_count", traits.can_count},
                    {"can_fill_up", traits.can_fill_up},
                    {"can_grow", traits.can_grow},
                    {"has_summary", has_summary(traits.kind)}});
  }
  return list;
}

}  // namespace tally::page
