#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tally::theory::test {

using Row = std::map<std::string, double>;

/// Rows of tests/data/<name>, by column name; lines that begin with # are comments, empty cells left out.
inline std::vector<Row> read_csv(const std::string& name) {
  std::ifstream file(std::string(TALLY_TEST_DATA_DIR) + "/" + name);
  if (!file) throw std::runtime_error("cannot read test data " + name);
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!cells.at(i).empty()) row[columns[i]] = std::stod(cells[i]);
    }
    rows.push_back(row);
  }
  return rows;
}

inline double relative_error(double value, double truth) {
  return value == truth ? 0.0 : std::fabs(value - truth) / std::fabs(truth);
}

#define TALLY_EXPECT_RELATIVE(value, truth, tolerance)                            \
  EXPECT_LE(::tally::theory::test::relative_error((value), (truth)), (tolerance)) \
      << (value) << " and " << (truth)

/// The call must throw std::invalid_argument, and its message must name the parameter.
#define TALLY_EXPECT_REFUSED(call, parameter)                                                     \
  try {                                                                                           \
    static_cast<void>(call);                                                                      \
    ADD_FAILURE() << #call << " was accepted";                                                    \
  } catch (const std::invalid_argument& error) {                                                  \
    EXPECT_NE(std::string(error.what()).find(std::string(parameter) + " is "), std::string::npos) \
        << error.what();                                                                          \
  }

/// Calls visit(digits) for every vector of `length` digits below `base`.
template <class Visit>
void for_every_outcome(unsigned base, unsigned length, Visit visit) {
  std::vector<unsigned> digits(length, 0);
  for (;;) {
    visit(digits);
    unsigned i = 0;
    while (i < length && ++digits[i] == base) digits[i++] = 0;
    if (i == length) return;
  }
}

}  // namespace tally::theory::test
