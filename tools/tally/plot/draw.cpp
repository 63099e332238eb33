#include "plot/draw.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <system_error>

#include "cli/options.hpp"
#include "files/guarded_file.hpp"
#include "text/output.hpp"
#include "text/output_check.hpp"
#include "text/wrapped.hpp"

namespace tally::cli {
namespace {

/// A file in memory, without a name.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("tally plot", MFD_CLOEXEC)) {
    if (file_ < 0) throw_error();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(file_); }

  int get() const noexcept { return file_; }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0) throw_error();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (lseek(file_, 0, SEEK_SET) < 0) throw_error();
  }

  std::string contents() const {
    std::string bytes;
    std::array<char, 4096> buffer{};
    ssize_t got = 0;
    while ((got = pread(file_, buffer.data(), buffer.size(), static_cast<off_t>(bytes.size()))) > 0)
      bytes.append(buffer.data(), static_cast<std::size_t>(got));
    if (got < 0) throw_error();
    return bytes;
  }

 private:
  [[noreturn]] static void throw_error() {
    throw std::system_error(errno, std::generic_category(), "a file in memory");
  }

  int file_;
};

/// The standard output of gnuplot for this script. No shell is involved, and no user's start-up file is read.
std::string run_gnuplot(std::string_view script) {
  MemoryFile input;
  input.write(script);
  const MemoryFile output;
  const MemoryFile error;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;  // we ignore SIGPIPE; gnuplot need not
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::string name = "gnuplot";
  std::string no_startup_file = "-d";
  const std::array<char*, 3> arguments{name.data(), no_startup_file.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, name.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed == ENOENT)
    throw std::runtime_error("--plot needs gnuplot, which is not installed (Debian: gnuplot-nox)");
  if (failed != 0) throw std::system_error(failed, std::generic_category(), "--plot: cannot run gnuplot");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(fmt::format("--plot: gnuplot failed: {}", error.contents()));
  return output.contents();
}

/// Within single quotes gnuplot replaces nothing, neither backquotes nor backslashes.
std::string gnuplot_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + "'";
}

struct Style {
  std::string_view columns;
  std::string look;
};

Style style_of(Series::Look look, bool sketch) {
  switch (look) {
    case Series::Look::line:
      return {"1:2", sketch ? "lines" : "lines linewidth 2"};
    case Series::Look::points:
      return {"1:2", "points pointtype 7"};
    case Series::Look::mark:
      return {"1:2", sketch ? "points" : "points pointtype 6 pointsize 2.5 linewidth 2"};
    case Series::Look::bars:
      return {"1:2", sketch ? "impulses" : "boxes fill solid 0.4"};
    case Series::Look::limits:
      return {"1:2:3:4", "yerrorbars pointtype 7"};
  }
  return {};
}

/// The number of columns and lines of a sketch.
std::pair<int, int> terminal_size() {
  winsize size{};
  int columns = 79;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    columns = size.ws_col - 1;
  } else if (const char* text = std::getenv("COLUMNS"); text != nullptr && std::atoi(text) > 1) {
    columns = std::atoi(text) - 1;
  }
  columns = std::clamp(columns, 40, 160);
  return {columns, std::clamp(columns / 3, 16, 40)};
}

std::string terminal(const PlotOptions& options) {
  if (options.file.empty()) {
    const auto [columns, lines] = terminal_size();
    return fmt::format("dumb noenhanced mono size {},{}", columns, lines);
  }
  const std::string_view name = options.file.ends_with(".svg") ? "svg" : "pngcairo";
  return fmt::format("{} noenhanced size 800,480 font 'Helvetica,{}' background 'white'", name,
                     name == "svg" ? 13 : 11);
}

/// A logarithmic x axis from least to greatest with a little room, and tics at 1, 2 and 5 times powers of
/// ten, or gnuplot's own if those are too many.
std::string logarithmic_x_axis(double least, double greatest) {
  std::string text = fmt::format("set logscale x\nset xrange [{:.9g}:{:.9g}]\n", least / 1.2, greatest * 1.2);
  std::vector<std::string> tics;
  for (double power = std::pow(10, std::floor(std::log10(least))); power <= greatest; power *= 10) {
    for (const double factor : {1, 2, 5}) {
      const double tic = factor * power;
      if (tic >= least / 1.2 && tic <= greatest * 1.2) tics.push_back(fmt::format("{:.9g}", tic));
    }
  }
  if (tics.size() <= 9) text += fmt::format("set xtics ({})\n", fmt::join(tics, ", "));
  return text;
}

bool is_long(const std::string& name) { return name.size() > 4; }

/// Long names are slanted. A sketch cannot do that and shows their numbers.
std::string named_tics(const std::vector<std::string>& names, bool sketch) {
  const bool any_long = std::any_of(names.begin(), names.end(), is_long);
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < names.size(); ++i)
    tics.push_back(
        fmt::format("{} {}", gnuplot_quoted(sketch && any_long ? std::to_string(i + 1) : names[i]), i));
  return fmt::format("set xtics {}({})\n", any_long && !sketch ? "rotate by -25 " : "",
                     fmt::join(tics, ", "));
}

/// Without the form feed and the blanks that gnuplot adds.
std::string cleaned_sketch(std::string_view picture) {
  std::string text;
  while (!picture.empty()) {
    const std::size_t end = std::min(picture.find('\n'), picture.size());
    std::string line(picture.substr(0, end));
    picture.remove_prefix(std::min(end + 1, picture.size()));
    std::erase(line, '\f');
    line.erase(line.find_last_not_of(' ') + 1);
    if (!text.empty() || !line.empty()) text += line + "\n";
  }
  return text;
}

bool is_drawn(const Figure& figure, const Point& point) {
  return std::isfinite(point.x) && std::isfinite(point.y) && (!figure.logarithmic_x || point.x > 0) &&
         (!figure.logarithmic_y || point.y > 0);
}

std::string script_of(const Figure& figure, const PlotOptions& options) {
  constexpr std::array<std::string_view, 8> colours{"#1f5fa8", "#c8501e", "#2e8b57", "#7b4ea3",
                                                    "#b8860b", "#17a2b8", "#d64f8c", "#444444"};
  const bool sketch = options.file.empty();
  std::string script = "set encoding utf8\nset terminal " + terminal(options) + "\n";
  script += fmt::format("set xlabel {}\n", gnuplot_quoted(figure.x_label));
  if (!sketch) {
    script += fmt::format("set title {}\nset ylabel {}\n", gnuplot_quoted(figure.title),
                          gnuplot_quoted(figure.y_label));
  }
  script += fmt::format("set key below height {}\n", sketch ? 2 : 1);
  script += "set border 3\nset tics nomirror\nset boxwidth 0.8\n";
  script += "set format x '%g'\nset format y '%g'\n";
  if (!sketch) script += "set grid ytics linecolor rgb '#dddddd'\n";
  double least = HUGE_VAL;
  double greatest = -HUGE_VAL;
  for (const Series& series : figure.series) {
    for (const Point& point : series.points) {
      if (!is_drawn(figure, point)) continue;
      least = std::min(least, point.x);
      greatest = std::max(greatest, point.x);
    }
  }
  if (least > greatest) throw std::runtime_error("--plot: there is nothing to draw");
  if (figure.logarithmic_x) script += logarithmic_x_axis(least, greatest);
  if (figure.whole_x) script += fmt::format("set xrange [{}:{}]\n", least - 0.75, greatest + 0.75);
  if (!figure.x_names.empty()) script += named_tics(figure.x_names, sketch);
  if (figure.logarithmic_y) script += "set logscale y\n";
  if (figure.logarithmic_y && figure.series.front().look == Series::Look::bars)
    script += "set yrange [0.5:*]\n";  // so that a bar of 1 is visible
  std::string plot;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    std::string data;
    for (const Point& point : series.points) {
      if (!is_drawn(figure, point)) continue;
      // A lower limit of 0 is below every logarithmic axis.
      const double low = figure.logarithmic_y && !(point.low > 0) ? point.y / 10 : point.low;
      data += fmt::format("{:.9g} {:.9g} {:.9g} {:.9g}\n", point.x, point.y, low, point.high);
    }
    if (data.empty()) continue;
    script += fmt::format("$data{} << END_OF_DATA\n{}END_OF_DATA\n", i, data);
    const Style style = style_of(series.look, sketch);
    plot +=
        fmt::format("{} $data{} using {} with {}{} title {}", plot.empty() ? "plot" : ",", i, style.columns,
                    style.look, sketch ? "" : fmt::format(" linecolor rgb '{}'", colours[i % colours.size()]),
                    gnuplot_quoted(series.title));
  }
  return script + plot + "\n";
}

}  // namespace

void add_plot(CommandLine app, PlotOptions& options, const std::string& what) {
  const auto parse = [&options](std::string_view text) {
    options.wanted = true;
    if (text.empty() || text == "true") return;  // CLI11's value if there is none
    if (!text.ends_with(".svg") && !text.ends_with(".png")) {
      throw std::invalid_argument(fmt::format(
          "'{}' ends neither in .svg nor in .png; for a sketch without a file, give --plot last", text));
    }
    options.file = text;
  };
  app.add_parsed("--plot", parse,
                 "Draw " + what + " with gnuplot, to a file (.svg or .png) or as a sketch after the text",
                 "[FILE]")
      .expected(0, 1);
  add_force(app, options.force);
}

void check_plot(const PlotOptions& options, bool json) {
  if (!options.wanted) return;
  if (options.file.empty()) {
    if (json) throw std::invalid_argument("--plot: a sketch is not JSON; give a FILE");
  } else {
    check_overwrite(options.file, options.force, "--plot");
    check_can_write(options.file);
  }
  (void)run_gnuplot("");
}

void draw(const PlotOptions& options, const Figure& figure) {
  if (!options.wanted) return;
  const std::string picture = run_gnuplot(script_of(figure, options));
  if (options.file.empty()) {
    // gnuplot leaves out text that is too long for a line.
    const auto columns = static_cast<std::size_t>(terminal_size().first);
    print("\n" + wrapped(figure.title + "; upwards: " + figure.y_label, 0, columns) + "\n" +
          cleaned_sketch(picture));
  } else {
    OutputFile(options.file, options.force, false, "--plot").save(std::as_bytes(std::span(picture)));
  }
}

}  // namespace tally::cli
