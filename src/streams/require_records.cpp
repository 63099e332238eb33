#include "streams/require_records.hpp"

#include <string>

#include "detail/text_of.hpp"

namespace tally::detail {

void require_records(std::string_view structure, const StreamRecords& records, bool with_keys,
                     bool with_times) {
  const std::size_t size = records.size();
  const auto require = [&](std::string_view name, std::size_t length, bool may_be_empty) {
    if (length == size || (may_be_empty && length == 0)) return;
    throw_parameter_error(
        structure, name, length,
        text_of(size) + (may_be_empty ? " as that of digests, or 0" : " as that of digests"));
  };
  require("length of keys", records.keys.size(), !with_keys);
  require("length of weights", records.weights.size(), true);
  require("length of times", records.times.size(), !with_times);
}

}  // namespace tally::detail
