#pragma once

#include <memory>

#include "guard.hpp"
#include "python.hpp"
#include "tally/serialization/sketch_files.hpp"

namespace tally::python {

/// The object of Python for a sketch that no AnyFilter holds: a tally.TopKeys, tally.SpaceSaving or tally.CountMinWindow.
py::object wrapped(AnySketch sketch);

}  // namespace tally::python
