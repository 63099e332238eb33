#pragma once

#include "tally/detail/format_error.hpp"  // what all readers of bytes throw
