#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/key_type.hpp"
#include "input/line_input.hpp"
#include "node/summary_node.hpp"
#include "text/duration.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// The commands of a node on standard input: +KEY -KEY ?KEY !status !publish !loaded !wait.
class NodeCommands {
 public:
  struct Options {
    bool nul_separated = false;
    bool json = false;
    bool quiet = false;
    KeyType key_type = KeyType::text;
    bool stays = false;  ///< waits for another writer after the end of a pipe
  };

  NodeCommands(const Options& options, SummaryNode& node);

  /// Whether to read on; false until a !wait is over.
  bool wants_input() const noexcept { return !input_.has_ended() && !wait_; }
  bool has_ended() const noexcept { return input_.has_ended() && !wait_; }
  /// When to call step, even without events.
  Nanoseconds deadline() const noexcept;
  /// The number of invalid lines, and of refused changes.
  std::uint64_t num_refused() const noexcept { return num_refused_lines_ + num_full_ + num_absent_; }

  /// Does what is due, and prints the answers. `readable`: poll reported input on standard input.
  void step(bool readable, Nanoseconds now);
  /// The last call: throws if output could not be written, and reports what was refused.
  void finish();

 private:
  struct Wait {
    std::uint64_t num_peers;
    Nanoseconds until;
  };
  enum class Verb { none, add, remove };

  void take(std::string_view line, Nanoseconds now);
  void change(Verb verb, Hash128 key);
  void apply_changes();
  void answer(std::string_view key, Hash128 digest);
  bool take_order(std::string_view order, Nanoseconds now);
  bool take_wait(std::string_view text, Nanoseconds now);
  void end_wait(Nanoseconds now);
  void refuse_line(std::string_view line);
  void refuse_line_because(const std::string& why);
  void print_status(Nanoseconds now);

  Options options_;
  SummaryNode& node_;
  LineInput input_;
  Output output_;
  Verb verb_ = Verb::none;  // of the pending changes
  std::vector<Hash128> changes_;
  std::optional<Wait> wait_;
  bool has_warned_of_input_ = false;
  std::uint64_t num_lines_ = 0;
  std::uint64_t num_refused_lines_ = 0;
  std::uint64_t num_full_ = 0;    // insertions refused
  std::uint64_t num_absent_ = 0;  // removes refused
};

}  // namespace tally::cli
