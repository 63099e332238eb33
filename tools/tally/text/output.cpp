#include "text/output.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <system_error>

#include "text/output_check.hpp"
#include "text/style.hpp"

namespace tally::cli {

namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 16;

void write_all(int file, std::string_view bytes, const char* name) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw ClosedPipe{};
    } else if (errno == EAGAIN) {  // somebody made the file non-blocking; others may share it
      pollfd polled{file, POLLOUT, 0};
      ::poll(&polled, 1, -1);
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), name);
    }
  }
}

void write_to_standard_error(std::string_view text) noexcept {
  try {
    write_all(STDERR_FILENO, text, "standard error");
  } catch (const std::exception&) {  // there is nowhere left to report it
  }
}

// There is one screen for all writers.
bool progress_on_screen = false;

void take_progress_off() noexcept {
  if (progress_on_screen) write_to_standard_error("\r\x1b[K");
  progress_on_screen = false;
}

std::string& stored_command_name() {
  static std::string name = "tally";
  return name;
}

std::string scaled(double value, double base, const std::array<const char*, 6>& units, const char* plain) {
  std::size_t unit = 0;
  // 999.95 would print as "1000.0"
  while (unit + 1 < units.size() && std::abs(value) >= base * 0.99995) {
    value /= base;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}{}", value, plain);
  return fmt::format("{:.{}f} {}", value, std::abs(value) < 9.995 ? 2 : 1, units[unit]);
}

// If one thread reads and writes, the Output that it writes to.
thread_local Output* output_of_thread = nullptr;

LogStyle log_style;

/// "2026-11-29T03:41:00.123Z"
std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = since / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, since % 1000);
}

void print_log(LogStyle::Level level, std::string_view text) {
  if (level < log_style.least) return;
  if (!log_style.json) return print_to_standard_error(fmt::format("{}: {}\n", command_name(), text));
  constexpr std::array<std::string_view, 3> names{"info", "warning", "error"};
  const Json line{{"time", utc_text(std::chrono::system_clock::now())},
                  {"level", names[static_cast<std::size_t>(level)]},
                  {"command", command_name()},
                  {"message", text}};
  print_to_standard_error(line.dump() + "\n");
}

}  // namespace

Output::Output(Options options)
    : separator_(options.nul_separated ? '\0' : '\n'),
      on_terminal_(isatty(STDOUT_FILENO) == 1),
      line_buffered_(options.line_buffered || on_terminal_) {
  check_standard_output();
  buffer_.reserve(buffer_size);
  if (!options.is_shared) output_of_thread = this;
}

Output::~Output() {
  if (output_of_thread == this) output_of_thread = nullptr;
  try {
    flush();
  } catch (const std::exception&) {  // an earlier exception is being thrown
  }
}

void Output::write_out(std::string_view bytes) const {
  if (on_terminal_) take_progress_off();
  write_all(STDOUT_FILENO, bytes, "standard output");
}

void Output::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > buffer_size) flush();
  if (bytes.size() > buffer_size) {
    write_out(bytes);
  } else {
    buffer_.append(bytes);
  }
}

void Output::write_record(std::string_view record) {
  write(record);
  if (line_buffered_) flush();
}

void Output::write_key(std::string_view key) {
  write(key);
  write_record({&separator_, 1});
}

void Output::write_key(std::string_view prefix, std::string_view key) {
  write(prefix);
  write("\t");
  write_key(key);
}

void Output::flush() {
  try {
    write_out(buffer_);
  } catch (...) {
    buffer_.clear();  // not tried again by the destructor
    throw;
  }
  buffer_.clear();
}

void flush_before_waiting() {
  if (output_of_thread != nullptr && !output_of_thread->is_flushed()) output_of_thread->flush();
}

void wait_unless_output_is_closed(int milliseconds) {
  constexpr int a_while = 50;
  pollfd reader{STDOUT_FILENO, 0, 0};
  if (::poll(&reader, 1, milliseconds) <= 0) return;
  if ((reader.revents & POLLERR) != 0) throw ClosedPipe{};
  ::poll(nullptr, 0, std::min(milliseconds, a_while));  // it reports something else at once, each time
}

void print(std::string_view text) { write_all(STDOUT_FILENO, text, "standard output"); }

void print_json(const Json& json) { print(json.dump(2) + "\n"); }

void set_command_name(std::string_view name) { stored_command_name() = name; }
std::string_view command_name() noexcept { return stored_command_name(); }

void print_to_standard_error(std::string_view text) noexcept {
  take_progress_off();
  write_to_standard_error(text);
}

void remark(bool quiet, std::string_view text) {
  if (!quiet) print_log(LogStyle::Level::info, text);
}

void warn(std::string_view text) { print_log(LogStyle::Level::warning, text); }

void report_error(std::string_view text) {
  if (log_style.json) return print_log(LogStyle::Level::error, text);
  take_progress_off();
  const std::string name = styled(Style::error, fmt::format("{}:", command_name()), STDERR_FILENO);
  write_to_standard_error(fmt::format("{} {}\n", name, text));
}

void set_log_style(const LogStyle& style) noexcept { log_style = style; }

std::string human_bytes(double bytes) {
  return scaled(bytes, 1024, {"", "KiB", "MiB", "GiB", "TiB", "PiB"}, " bytes");
}

std::string human_count(double number) {
  if (std::abs(number) < 10'000) return fmt::format("{:.0f}", number);
  return scaled(number, 1000, {"", "K", "M", "G", "T", "P"}, "");
}

std::string human_rate(double rate) {
  if (rate >= 1e-4 && rate <= 1) return fmt::format("{:.3g}%", rate * 100);
  return rate == 0 ? "0" : fmt::format("{:.2e}", rate);
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto is_number = [](const std::string& cell) {
    return !cell.empty() && std::string_view("+-.0123456789<>=~").find(cell[0]) != std::string_view::npos;
  };
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < rows_[r].size(); ++i) {
      const std::string& cell = rows_[r][i];
      const bool heads_numbers = r == 0 && rows_.size() > 1 && i < rows_[1].size() && is_number(rows_[1][i]);
      const bool right = i > 0 && (is_number(cell) || heads_numbers);
      if (i > 0) line += "  ";
      line += right ? fmt::format("{:>{}}", cell, widths[i]) : fmt::format("{:<{}}", cell, widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += (r == 0 ? styled(Style::heading, line, STDOUT_FILENO) : line) + "\n";
  }
  return text;
}

Progress::Progress(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { take_progress_off(); }

void Progress::draw(std::uint64_t num_keys, std::uint64_t bytes_read,
                    std::optional<std::uint64_t> total_bytes) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (seconds < 0.3) return;  // short jobs show nothing
  std::string line = "\r";
  if (total_bytes && *total_bytes > 0) {
    constexpr int width = 24;
    const double share = std::min(1.0, static_cast<double>(bytes_read) / static_cast<double>(*total_bytes));
    const int full = static_cast<int>(share * width);
    line += fmt::format("[{:=<{}}{:{}}] {:3.0f}%  {} of {}", "", full, "", width - full, share * 100,
                        human_bytes(static_cast<double>(bytes_read)),
                        human_bytes(static_cast<double>(*total_bytes)));
    if (share > 0.01) line += fmt::format("  {:.0f} s left", seconds / share * (1 - share));
  } else {
    line += human_bytes(static_cast<double>(bytes_read));
  }
  const auto keys = static_cast<double>(num_keys);
  line += fmt::format("  {} keys  {}/s", human_count(keys), human_count(keys / seconds));
  if (num_files_ > 1) line += fmt::format("  file {} of {}", file_number_, num_files_);
  write_to_standard_error(line + "\x1b[K");
  progress_on_screen = true;
}

}  // namespace tally::cli
