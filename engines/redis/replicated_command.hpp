#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "call.hpp"
#include "redis_module_api.hpp"

namespace tally::redis {

/// The arguments of a command for replicas and the append-only file, after its key.
class ReplicatedCommand {
 public:
  /// With memory for `num_arguments` of the call: `add_argument` then allocates nothing.
  explicit ReplicatedCommand(const Call& call, std::size_t num_arguments = 0) : call_(call) {
    words_.reserve(num_arguments);
  }
  ~ReplicatedCommand() {
    for (api::String* const word : own_) api::free_string(call_.context(), word);
  }
  ReplicatedCommand(const ReplicatedCommand&) = delete;
  ReplicatedCommand& operator=(const ReplicatedCommand&) = delete;

  void add(std::string_view word) {
    own_.reserve(own_.size() + 1);
    words_.reserve(words_.size() + 1);
    own_.push_back(api::create_string(call_.context(), word.data(), word.size()));
    words_.push_back(own_.back());
  }
  /// An argument of the call.
  void add_argument(std::size_t i) { words_.push_back(call_.argument(i)); }
  void add_arguments(std::size_t first) {
    for (std::size_t i = first; i < call_.size(); ++i) add_argument(i);
  }

  bool is_empty() const noexcept { return words_.empty(); }

  /// Replicas run it after what was sent before, and before any later command.
  void send(const char* name) noexcept {
    api::replicate(call_.context(), name, "sv", call_.argument(1), words_.data(), words_.size());
  }

 private:
  const Call& call_;
  std::vector<api::String*> own_;
  std::vector<api::String*> words_;
};

}  // namespace tally::redis
