#pragma once

#include <cstdlib>
#include <string>

namespace tally::test {

/// The number after the first `name` in a text; -1 if the name is not there.
inline int number_after(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name);
  return at == std::string::npos ? -1 : std::atoi(text.c_str() + at + name.size());
}

}  // namespace tally::test
