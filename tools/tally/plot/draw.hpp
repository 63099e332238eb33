#pragma once

#include <limits>
#include <string>
#include <vector>
#include "cli/command_line.hpp"

namespace tally::cli {

/// One point, with limits if there are any.
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

/// A picture. Values that are not above 0 are left out on a logarithmic axis.
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

/// Whether to draw a picture, and where.
struct PlotOptions {
  bool wanted = false;
  std::string file;  ///< a name in .svg or .png; without one, a sketch on standard output
  bool force = false;
};

/// --plot [FILE], and --force for it. `what` describes the picture.
void add_plot(CommandLine app, PlotOptions& options, const std::string& what);

/// Checks before any work is done. Throws std::invalid_argument for a file that already exists, and for a
/// sketch if standard output is JSON; std::runtime_error if there is no gnuplot.
void check_plot(const PlotOptions& options, bool json = false);

/// Draws the figure, if requested, by running gnuplot. A file is written all or nothing.
void draw(const PlotOptions& options, const Figure& figure);

}  // namespace tally::cli
