#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/key_type.hpp"
#include "node/summary_node.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// The lines +KEY -KEY ?KEY !status !publish !loaded !wait !false of one client, and the answers to them.
class LineSession {
 public:
  struct Options {
    bool nul_separated = false;  ///< of the answers
    bool json = false;
    KeyType key_type = KeyType::text;
  };
  enum class Refusal {
    line,   ///< it is no command
    full,   ///< insertions for which the filter has no room
    absent  ///< removals of keys that were provably absent
  };
  /// `why` is for a line only.
  using OnRefusal = std::function<void(Refusal refusal, std::uint64_t number, std::string_view why)>;

  LineSession(const Options& options, SummaryNode& node, OnRefusal on_refusal);

  /// Not while a !wait is going on. Changes are made together with later ones, at the latest by apply_changes.
  void take(std::string_view line, Nanoseconds now);
  void apply_changes();
  /// The answers since the last call, each with its end.
  std::string take_answers() { return std::exchange(answers_, {}); }

  bool is_waiting() const noexcept { return wait_.has_value(); }
  /// When the wait is over at the latest.
  Nanoseconds deadline() const noexcept;
  /// Ends the wait if it is over, or given up.
  void end_wait(Nanoseconds now, bool gives_up);

  /// From now on, answers are objects, or words again.
  void set_json(bool json) noexcept { options_.json = json; }
  bool is_json() const noexcept { return options_.json; }
  std::uint64_t num_refused_lines() const noexcept { return num_refused_lines_; }

 private:
  struct Wait {
    std::uint64_t num_peers;
    Nanoseconds until;
  };
  enum class Verb { none, add, remove };

  void change(Verb verb, Hash128 key);
  void answer(std::string_view key, Hash128 digest);
  bool take_order(std::string_view order, Nanoseconds now);
  bool take_report(std::string_view text);
  bool take_wait(std::string_view text, Nanoseconds now);
  void refuse(std::string_view why);
  void print_status(Nanoseconds now);
  void say(std::string_view first, std::string_view second);

  Options options_;
  SummaryNode& node_;
  OnRefusal on_refusal_;
  Verb verb_ = Verb::none;  // of the pending changes
  std::vector<Hash128> changes_;
  std::optional<Wait> wait_;
  std::uint64_t num_refused_lines_ = 0;
  std::string answers_;
};

}  // namespace tally::cli
