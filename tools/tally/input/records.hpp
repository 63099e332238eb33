#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/key_loop.hpp"
#include "input/key_reader.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// What a line says beside its key.
struct RecordOptions {
  std::string sum_fields;   ///< as cut's -f: the weight; empty: 1
  std::string time_fields;  ///< the time; empty: when it was read
  bool skip_bad = false;    ///< skip a line whose weight or time is none
};

void add_sum(CommandLine app, RecordOptions& options);
void add_time(CommandLine app, RecordOptions& options);
void add_skip_bad(CommandLine app, RecordOptions& options);

/// Lines of a stream, at most KeyReader::max_keys_a_call. All spans are as long as `keys`; those that were
/// not asked for are empty.
struct Records {
  std::span<const std::string_view> keys;
  std::span<const Hash128> digests;
  std::span<const std::uint64_t> weights;
  std::span<const Nanoseconds> times;

  std::size_t size() const noexcept { return keys.size(); }
  Records part(std::size_t begin, std::size_t end) const noexcept {
    const auto of = [&](auto all) { return all.empty() ? all : all.subspan(begin, end - begin); };
    return {of(keys), of(digests), of(weights), of(times)};
  }
};

/// Reads the weights and times of lines.
class RecordReader {
 public:
  /// `with_times`: also without a field for them, as they are read.
  RecordReader(const InputOptions& input, const RecordOptions& options, const KeyHasher& hasher,
               bool with_times);

  /// The next lines; none at the end of the input. Valid until the next call. Throws as KeyReader does, and
  /// std::runtime_error for a weight or time that is none, unless those are skipped.
  Records next();

  const KeyReader& keys() const noexcept { return reader_; }
  std::uint64_t num_lines() const noexcept { return num_lines_; }  ///< read, skipped ones too
  std::uint64_t num_skipped() const noexcept { return num_skipped_; }

 private:
  bool read_line(std::string_view line, std::size_t at);
  [[noreturn]] void refuse(std::string_view flag, std::string_view text, std::string_view what) const;
  bool has_weights() const noexcept { return !options_.sum_fields.empty(); }
  bool has_time_fields() const noexcept { return !options_.time_fields.empty(); }

  RecordOptions options_;
  KeyHasher hasher_;
  bool with_times_;
  KeyReader reader_;
  FieldSelector weight_field_;
  FieldSelector time_field_;
  std::vector<std::string_view> keys_;
  std::vector<Hash128> digests_;
  std::vector<std::uint64_t> weights_;
  std::vector<Nanoseconds> times_;
  std::uint64_t num_lines_ = 0;
  std::uint64_t num_skipped_ = 0;
};

/// Says how many lines were not counted, if any: those skipped, and those left out as too late.
void remark_lines_lost(bool quiet, const RecordReader& reader, std::uint64_t num_left_out);

/// Reads all lines: use(records), in batches.
template <class Use>
void for_each_record(RecordReader& reader, bool quiet, Use use) {
  Progress progress(quiet);
  while (true) {
    const Records records = reader.next();
    if (records.keys.empty()) return;
    use(records);
    progress.update(reader.num_lines(), reader.keys().bytes_read(), reader.keys().total_bytes());
  }
}

}  // namespace tally::cli
