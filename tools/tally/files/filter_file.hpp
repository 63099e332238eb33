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
/// The same where --store may name a filter instead.
void add_filter_file_or_store(CommandLine app, FilterFileOptions& options);
/// --no-verify, for commands that answer from a file. Commands that change the file or pass it on do not have
/// this flag, because damage would get a fresh checksum.
Option add_no_verify(CommandLine app, bool& verify);

/// Whether the path can be read only once: a pipe, a terminal.
bool is_stream(const std::string& path);

/// A filter for reading: mapped, or read if the path is not a regular file (a pipe). The whole file is
/// checked first, unless --no-verify is given. If it is shortened afterwards, the command ends with a
/// message.
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

/// Throws std::runtime_error if a signal ended the input: a filter of half of the keys is useless.
void refuse_if_stopped(const std::string& path);

/// Inserts the keys. Throws std::runtime_error that names the fix if the filter is full; `path` is then not
/// written.
void insert_all(AnyFilter& filter, std::span<const Hash128> digests, const std::string& path);
/// Throws the error for a full d-left filter.
[[noreturn]] void throw_full(const AnyFilter& filter, const std::string& path);

/// Inserts all keys of the input, or adds their weights if `records` has a field for them; returns the number
/// of lines. Throws what insert_all and the readers throw, and std::invalid_argument for weights that the
/// kind does not support.
std::uint64_t insert_input(AnyFilter& filter, const InputOptions& input, const RecordOptions& records,
                           bool quiet, const std::string& path);

/// The output of `info --json`, and of the reports of build, add and remove.
Json filter_to_json(const AnyFilter& filter, const FilterStatistics& statistics);
/// "bloom filter, congruential scheme: 9585088 bits, 7 hashes, 1.14 MiB"
std::string shape_text(const FilterShape& shape);
/// "about 995.3 K distinct keys, fill 48.2%, false positive rate 0.61%"
std::string state_text(const AnyFilter& filter, const FilterStatistics& statistics);
/// "4", or ">=15" where the counter is saturated.
std::string count_text(const Count& count);

}  // namespace tally::cli
