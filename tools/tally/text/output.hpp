#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.hpp"

namespace tally::cli {

/// Thrown when the reader of our standard output has closed it: the command ends silently.
struct ClosedPipe : std::exception {
  const char* what() const noexcept override { return "standard output was closed"; }
};

/// Standard output, buffered. Data goes only there.
///
/// `finish()` is the last call: it throws if anything could not be written (a full disk). Without it the
/// destructor writes what it can, so that an error later in the input does not discard earlier results.
class Output {
 public:
  struct Options {
    bool nul_separated = false;  ///< keys end in a NUL, not in a newline
    bool line_buffered = false;  ///< flush after every key; a terminal is always flushed
    bool is_shared = false;      ///< several threads write, one at a time: flush_before_waiting ignores it
  };

  Output() : Output(Options{}) {}
  explicit Output(Options options);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view bytes);
  /// The key and its separator.
  void write_key(std::string_view key);
  /// "3\tkey" and the separator.
  void write_key(std::string_view prefix, std::string_view key);
  /// A record with its own terminator, such as a line of JSON.
  void write_record(std::string_view record);
  void flush();
  bool is_flushed() const noexcept { return buffer_.empty(); }
  void finish() { flush(); }

 private:
  void write_out(std::string_view bytes) const;

  std::string buffer_;
  char separator_;
  bool on_terminal_;
  bool line_buffered_;
};

/// Writes what the calling thread has put into its Output, so that nobody waits for it while we wait for
/// input. Throws what Output throws.
void flush_before_waiting();

/// Sleeps for at most that time, and throws ClosedPipe if the reader of standard output is gone.
void wait_unless_output_is_closed(int milliseconds);

/// Prints the whole text, or the JSON indented by two and a newline, to standard output; throws what Output
/// throws.
void print(std::string_view text);
void print_json(const Json& json);

/// Prints the whole text on standard error, and nothing if nobody can read it.
void print_to_standard_error(std::string_view text) noexcept;
/// Prints a remark on standard error: "tally build: built ...". Nothing if `quiet`.
void remark(bool quiet, std::string_view text);
/// The same for what somebody should look at: a --quiet command prints it too.
void warn(std::string_view text);
/// The same for the error that ends the command.
void report_error(std::string_view text);

/// How remarks, warnings and errors are printed, of which only those from `least` on are.
struct LogStyle {
  enum class Level { info, warning, error };
  Level least = Level::info;
  bool json = false;  ///< objects with time, level, command and message, one per line
};
void set_log_style(const LogStyle& style) noexcept;
/// The name of the command in remarks and errors; main sets it.
void set_command_name(std::string_view name);
std::string_view command_name() noexcept;

std::string human_bytes(double bytes);   ///< "12.3 MiB"
std::string human_count(double number);  ///< "1.2 M"; exact below 10,000
std::string human_rate(double rate);     ///< "0.82%", or "8.2e-06" below 0.01%

/// Aligned columns for standard output. The first column is left-aligned, numbers in the others right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add_row(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// A progress line on standard error, if that is a terminal and `quiet` is not set. Cheap: call `update` once
/// per batch; it draws at most ten times a second. Remarks, and output to a terminal, remove the line first.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shown if there are several: "file 2 of 4".
  void set_file(std::size_t number, std::size_t num_files) {
    file_number_ = number;
    num_files_ = num_files;
  }

  void update(std::uint64_t num_keys, std::uint64_t bytes_read, std::optional<std::uint64_t> total_bytes) {
    if (shown_) draw(num_keys, bytes_read, total_bytes);
  }

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::uint64_t num_keys, std::uint64_t bytes_read, std::optional<std::uint64_t> total_bytes);

  bool shown_;
  std::size_t file_number_ = 0;
  std::size_t num_files_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;
};

}  // namespace tally::cli
