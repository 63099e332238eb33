#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tally/serialization/format_error.hpp"

namespace tally::test {

/// `act` must throw std::invalid_argument whose message holds every fragment.
template <class Act>
void expect_refused(Act act, const std::vector<std::string>& fragments) {
  try {
    act();
  } catch (const std::invalid_argument& error) {
    for (const std::string& fragment : fragments) EXPECT_THAT(error.what(), ::testing::HasSubstr(fragment));
    return;
  }
  ADD_FAILURE() << "nothing was refused; expected a message with '" << fragments.front() << "'";
}

/// `act` must throw FormatError of this subject, whose reason holds `reason` and that names the byte `offset`.
template <class Act>
void expect_format_error(Act act, const std::string& reason, std::uint64_t offset,
                         const std::string& subject = "tally file") {
  try {
    act();
  } catch (const FormatError& error) {
    EXPECT_THAT(error.reason(), ::testing::HasSubstr(reason));
    EXPECT_EQ(error.offset(), offset) << error.what();
    EXPECT_EQ(error.what(), subject + ": " + error.reason() + " (at byte " + std::to_string(offset) + ")");
    return;
  }
  ADD_FAILURE() << "nothing was refused; expected '" << reason << "'";
}

template <class Act>
bool throws_format_error(Act act) {
  try {
    act();
    return false;
  } catch (const FormatError&) {
    return true;
  }
}

}  // namespace tally::test
