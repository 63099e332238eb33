#include "filter_value.hpp"

namespace tally::redis {

void FilterValue::set_parameters(std::string_view, const std::vector<FileHeader>& headers) {
  if (headers.size() != 1) throw FormatError("the dump has several files; must be one", 8);
}

}  // namespace tally::redis
