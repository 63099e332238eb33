#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include "cli/command_line.hpp"

#include "files/bus_error.hpp"
#include "files/guarded_file.hpp"
#include "input/records.hpp"
#include "tally/serialization.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// A filter file that a command reads or changes, with the secret of its keyed hash.
struct FilterFileOptions {
  std::string path;
  std::string key_file;
  bool verify = true;

  std::optional<HashKey> key() const;
};

/// The positional FILTER, and --key-file.
void add_filter_file(CommandLine app, FilterFileOptions& options);
/// --no-verify, for commands that answer from a file. Those that change it or pass it on have no such flag: damage
/// would get a fresh checksum.
Option add_no_verify(CommandLine app, bool& verify);

/// Whether what is at the path can be read only once: a pipe, a terminal.
bool is_stream(const std::string& path);

/// A filter for reading: mapped, or read if the path is no regular file (a pipe). The whole file is checked first,
/// unless --no-verify is given. If it is made shorter afterwards, the command ends with a message.
class OpenFilter {
 public:
  explicit OpenFilter(const FilterFileOptions& options);
  explicit OpenFilter(AnyFilter loaded) : loaded_(std::move(loaded)) {}
  const AnyFilter& operator*() const { return mapped_ ? mapped_->filter() : *loaded_; }
  const AnyFilter* operator->() const { return &**this; }

 private:
  std::optional<BusErrorMessage> on_bus_error_;
  std::optional<MappedFilter> mapped_;
  std::optional<AnyFilter> loaded_;
};

/// Throws std::runtime_error if a signal ended the input: half of the keys are no filter.
void refuse_if_stopped(const std::string& path);

/// Inserts the keys. Throws std::runtime_error that names the fix if the filter is full: `path` is not
/// written then.
void insert_all(AnyFilter& filter, std::span<const Hash128> digests, const std::string& path);
/// The error of a d-left filter that was full.
[[noreturn]] void throw_full(const AnyFilter& filter, const std::string& path);

/// Inserts all keys of the input, or adds their weights if `records` has a field for them; how many lines those were.
/// Throws as insert_all, as the readers do, and std::invalid_argument for weights that the kind cannot take.
std::uint64_t insert_input(AnyFilter& filter, const InputOptions& input, const RecordOptions& records,
                           bool quiet, const std::string& path);

/// What `info --json` shows, and what build, add and remove report.
Json filter_to_json(const AnyFilter& filter, const FilterStatistics& statistics);
/// "bloom filter, congruential scheme: 9585088 bits, 7 hashes, 1.14 MiB"
std::string shape_text(const FilterShape& shape);
/// "fill 48.2%, about 995,321 keys, error now 0.61%"
std::string state_text(const AnyFilter& filter, const FilterStatistics& statistics);
/// "4", or ">=15" where the counter is saturated.
std::string count_text(const Count& count);

}  // namespace tally::cli
