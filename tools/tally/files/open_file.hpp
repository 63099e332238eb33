#pragma once

#include <optional>

#include "files/filter_file.hpp"
#include "tally/serialization/sketch_files.hpp"

namespace tally::cli {

/// A file of any kind for reading: a filter as OpenFilter opens it, or a sketch, which is read and checked
/// completely.
class OpenFile {
 public:
  explicit OpenFile(const FilterFileOptions& options);
  const AnySketch* sketch() const { return sketch_ ? &*sketch_ : nullptr; }  ///< null if it is a filter
  const AnyFilter& filter() const { return **filter_; }

 private:
  std::optional<AnySketch> sketch_;
  std::optional<OpenFilter> filter_;
};

}  // namespace tally::cli
