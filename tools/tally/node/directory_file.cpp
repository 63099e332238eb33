#include "node/directory_file.hpp"

#include <fmt/core.h>

#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

#include "tally/serialization.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

/// Calls use(filter) with the type that a directory can have.
template <class Result, class Use>
Result use_as_directory(const AnyFilter& file, const std::string& flag, const std::string& path, Use use) {
  return file.visit([&]<class Filter>(const Filter& filter) -> Result {
    if constexpr (std::is_same_v<Filter, CountingBloomFilter<>> ||
                  std::is_same_v<Filter, DLeftCountingBloomFilter<>>) {
      return use(filter);
    } else {
      throw std::invalid_argument(fmt::format(
          "{}: '{}' contains a filter of kind {} and scheme {}; the kind must be counting-bloom or "
          "dleft, and the scheme the default one",
          flag, path, name_of(file.kind()), file.shape().scheme_name()));
    }
  });
}

}  // namespace

NodeDirectory directory_of(const AnyFilter& file, const std::string& flag, const std::string& path,
                           const SummaryOptions& options) {
  return use_as_directory<NodeDirectory>(file, flag, path,
                                         [&](const auto& filter) { return NodeDirectory(filter, options); });
}

void replace_contents(NodeDirectory& directory, const AnyFilter& file, const std::string& flag,
                      const std::string& path) {
  use_as_directory<void>(file, flag, path, [&](const auto& filter) { directory.replace(filter); });
}

DirectoryFile::DirectoryFile(const std::string& path, Nanoseconds interval, Nanoseconds now)
    : file_(path, true, WhenHeld::refuse), interval_(interval), next_(now + interval) {}

void DirectoryFile::save_if_due(const NodeDirectory& directory, Nanoseconds now) {
  if (now < next_) return;
  next_ = now + interval_;
  try {
    save_now(directory);
    if (std::exchange(has_failed_, false)) remark(false, fmt::format("saved '{}' again", path()));
  } catch (const std::exception& error) {
    if (!std::exchange(has_failed_, true)) {
      warn(fmt::format("--save: {}; trying again every {}", error.what(), duration_text(interval_)));
    }
  }
}

void DirectoryFile::save_now(const NodeDirectory& directory) {
  const std::uint64_t changes = directory.num_changes();
  if (saved_ == changes) return;
  directory.with_filter([&](const auto& filter) { file_.save(serialize(filter)); });
  saved_ = changes;
}

}  // namespace tally::cli
