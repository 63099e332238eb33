#include "files/open_file.hpp"

#include <filesystem>
#include <utility>

namespace tally::cli {

OpenFile::OpenFile(const FilterFileOptions& options) {
  if (is_stream(options.path)) {
    AnyFile file = load_any(options.path, options.key());
    if (auto* sketch = std::get_if<AnySketch>(&file)) sketch_ = std::move(*sketch);
    else filter_.emplace(std::get<AnyFilter>(std::move(file)));
  } else if (is_filter(file_kind(std::filesystem::path(options.path)))) {
    filter_.emplace(options);
  } else {
    sketch_ = load_sketch(options.path, options.key());
  }
}

}  // namespace tally::cli
