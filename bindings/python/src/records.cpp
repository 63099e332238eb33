#include "records.hpp"

#include <array>
#include <vector>

namespace tally::python {
namespace {

// Not freed at exit, when the interpreter may be gone.
struct Loaded {
  py::module_ records;
  std::array<std::vector<py::object>, 5> members;
};
Loaded* loaded = nullptr;

constexpr std::array<const char*, 5> enum_names = {"InsertResult", "InsertOutcome", "RemoveResult",
                                                   "ThresholdState", "ApplyResult"};

}  // namespace

void load_records() {
  if (loaded != nullptr) return;
  auto* records = new Loaded{py::module_::import("tally._records"), {}};
  for (std::size_t i = 0; i < enum_names.size(); ++i)
    for (const py::handle own : records->records.attr(enum_names[i]))
      records->members[i].push_back(py::reinterpret_borrow<py::object>(own));
  loaded = records;
}

py::object in_records(const char* name) { return loaded->records.attr(name); }

py::object member(EnumClass enumeration, std::uint8_t value) {
  return loaded->members[static_cast<std::size_t>(enumeration)][value];
}

}  // namespace tally::python
