#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "python.hpp"
#include "tally/streams/exact_check.hpp"

namespace tally::python {

struct EndedExactCounting {
  std::uint64_t num_keys = 0;
};
struct FilledReportedKeys {
  std::uint64_t num_keys = 0;
};
using StreamEvent = std::variant<EndedExactCounting, OpenedGeneration, ExceededPlan, FilledReportedKeys>;

/// The observer of a stream of Python. A stream may work without the interpreter's lock, so events wait here until the end
/// of the batch. It also passes them to an ExactCheck, if there is one. The guard of the stream protects it.
class StreamEvents final : public StreamObserver {
 public:
  /// Events are kept only if `are_wanted`. `check` may be null.
  StreamEvents(bool are_wanted, ExactCheck* check);

  /// The oldest event, once.
  std::optional<StreamEvent> pop();

  void ended_exact_counting(std::uint64_t num_keys) override { keep(EndedExactCounting{num_keys}); }
  void opened_generation(const OpenedGeneration& generation) override;
  void exceeded_plan(const ExceededPlan& excess) override { keep(excess); }
  void filled_reported_keys(std::uint64_t num_keys) override { keep(FilledReportedKeys{num_keys}); }
  bool follows_keys() const override { return check_ != nullptr; }
  void counted(Hash128 digest) override { check_->counted(digest); }
  void took(std::size_t index, bool is_reported) override { check_->took(index, is_reported); }

 private:
  void keep(StreamEvent event) noexcept;

  bool are_wanted_;
  ExactCheck* check_;
  std::vector<StreamEvent> waiting_;
};

/// Calls on_event(name, **fields).
void call_with_event(const py::object& on_event, const StreamEvent& event);

/// A callable, or none if it is None. Throws TypeError.
py::object on_event_from(py::handle on_event);

}  // namespace tally::python
