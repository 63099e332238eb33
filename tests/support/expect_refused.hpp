#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

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

}  // namespace tally::test
