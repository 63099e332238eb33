#pragma once

#include <limits>
#include <string>
#include <vector>
#include "cli/command_line.hpp"

namespace tally::cli {

/// One point, and limits where there are any.
struct Point {
  double x = 0;
  double y = 0;
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

struct Series {
  enum class Look { line, points, mark, bars, limits };  ///< a mark is a large point

  std::string title{};
  Look look = Look::line;
  std::vector<Point> points{};
};

/// A picture. On a logarithmic axis what is not above 0 is left out.
struct Figure {
  std::string title{};
  std::string x_label{};
  std::string y_label{};
  bool logarithmic_x = false;
  bool logarithmic_y = false;
  bool whole_x = false;                ///< x are whole numbers, and so are the tics
  std::vector<std::string> x_names{};  ///< of x = 0, 1, ...; none: the numbers themselves
  std::vector<Series> series{};
};

/// Where a picture goes, if one is wanted.
struct PlotOptions {
  bool wanted = false;
  std::string file;  ///< a name in .svg or .png; without one it is a sketch on standard output
  bool force = false;
};

/// --plot [FILE], and --force for it. `what` is what the picture shows.
void add_plot(CommandLine app, PlotOptions& options, const std::string& what);

/// Said before any work is done. Throws std::invalid_argument for a file that is there already, and for a sketch
/// where standard output is JSON; std::runtime_error if there is no gnuplot.
void check_plot(const PlotOptions& options, bool json = false);

/// Draws it, if one is wanted, by running gnuplot. A file is written all or nothing.
void draw(const PlotOptions& options, const Figure& figure);

}  // namespace tally::cli
