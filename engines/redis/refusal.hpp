#pragma once

#include <exception>
#include <string>
#include <utility>

namespace tally::redis {

/// Thrown by a command that replies with an error and has changed nothing. The text is the whole reply, with its
/// first word (ERR, WRONGTYPE) if it has one.
class Refusal : public std::exception {
 public:
  explicit Refusal(std::string text) : text_(std::move(text)) {}

  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace tally::redis
