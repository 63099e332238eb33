#include "streams_events.hpp"

#include "arguments.hpp"
#include "guard.hpp"
#include "shapes.hpp"

namespace tally::python {
namespace {

// A stream opens at most 64 generations, and warns each time that the number of keys has doubled.
constexpr std::size_t most_events = 256;

struct EventText {
  const char* name;
  py::dict fields;
};

EventText text_of_event(const EndedExactCounting& event) {
  return {"ended_exact_counting", py::dict("num_keys"_a = event.num_keys)};
}
EventText text_of_event(const OpenedGeneration& event) {
  return {"opened_generation",
          py::dict("number"_a = event.number, "num_keys"_a = event.num_keys,
                   "shape"_a = to_python(FilterShape{event.shape, DefaultScheme::file_id}),
                   "false_positive_rate"_a = event.false_positive_rate)};
}
EventText text_of_event(const ExceededPlan& event) {
  return {"exceeded_plan", py::dict("planned_keys"_a = event.planned_keys, "num_keys"_a = event.num_keys,
                                    "false_positive_rate"_a = event.false_positive_rate)};
}
EventText text_of_event(const FilledReportedKeys& event) {
  return {"filled_reported_keys", py::dict("num_keys"_a = event.num_keys)};
}

}  // namespace

StreamEvents::StreamEvents(bool are_wanted, ExactCheck* check) : are_wanted_(are_wanted), check_(check) {
  // A stream does not expect an observer that throws for lack of memory.
  if (are_wanted) waiting_.reserve(most_events);
}

std::optional<StreamEvent> StreamEvents::pop() {
  if (waiting_.empty()) return std::nullopt;
  const StreamEvent event = waiting_.front();
  waiting_.erase(waiting_.begin());
  return event;
}

void StreamEvents::opened_generation(const OpenedGeneration& generation) {
  if (check_ != nullptr) check_->opened_generation(generation);
  keep(generation);
}

void StreamEvents::keep(StreamEvent event) noexcept {
  if (are_wanted_ && waiting_.size() < most_events) waiting_.push_back(event);
}

void call_with_event(const py::object& on_event, const StreamEvent& event) {
  const EventText text = std::visit([](const auto& own) { return text_of_event(own); }, event);
  call_python(on_event, py::make_tuple(text.name), text.fields);
}

py::object on_event_from(py::handle on_event) {
  if (on_event.is_none()) return {};
  if (PyCallable_Check(on_event.ptr()) == 0)
    throw_type_error("on_event", on_event, "a function of a name and keyword arguments");
  return py::reinterpret_borrow<py::object>(on_event);
}

}  // namespace tally::python
