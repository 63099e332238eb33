#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/key_loop.hpp"
#include "input/key_reader.hpp"
#include "tally/streams/records.hpp"
#include "tally/streams/time_steps.hpp"
#include "text/duration.hpp"

namespace tally::cli {

/// The fields of a line other than its key.
struct RecordOptions {
  std::string sum_fields;   ///< as cut's -f: the weight; empty: 1
  std::string time_fields;  ///< the time; empty: when it was read
};

void add_sum(CommandLine app, RecordOptions& options);
void add_time(CommandLine app, RecordOptions& options);

/// Reads the keys, weights and times of lines.
class RecordReader {
 public:
  /// `with_times`: return times even without a field for them, as the lines are read.
  RecordReader(const InputOptions& input, const RecordOptions& options, const KeyHasher& hasher,
               bool with_times);

  /// The next lines, at most KeyReader::max_keys_a_call; empty at the end of the input. Their keys are the bytes that a
  /// structure stores. Valid until the next call. Throws what KeyReader throws, and std::runtime_error for an invalid key or
  /// a missing or invalid weight or time, unless such lines are skipped.
  StreamRecords next();
  /// What is printed of these lines: the keys as they were read, or with --line the lines.
  std::span<const std::string_view> texts() const noexcept { return texts_; }

  const KeyReader& keys() const noexcept { return reader_; }
  std::uint64_t num_lines() const noexcept {
    return num_lines_ + reader_.num_skipped();
  }  ///< lines read, including skipped ones
  std::uint64_t num_skipped() const noexcept { return num_skipped_ + reader_.num_skipped(); }

 private:
  void take_header();
  std::optional<std::string_view> field_of(FieldSelector& fields, std::size_t index);
  bool read_line(std::size_t index, std::size_t at);
  bool read_number(std::string_view key, std::size_t index, std::size_t at);
  [[noreturn]] void refuse(std::size_t index, std::string_view flag, std::string_view text,
                           std::string_view what) const;
  bool has_numbers() const noexcept { return input_.key_type != KeyType::text; }
  bool has_weights() const noexcept { return !options_.sum_fields.empty(); }
  bool has_time_fields() const noexcept { return !options_.time_fields.empty(); }

  InputOptions input_;
  RecordOptions options_;
  KeyHasher hasher_;
  bool with_times_;
  KeyReader reader_;
  FieldSelector weight_field_;
  FieldSelector time_field_;
  std::size_t num_headers_ = 0;  // that these two have taken
  Nanoseconds now_ = 0;          // when the lines were read
  std::vector<std::string_view> keys_;
  std::vector<std::string_view> numbers_;  // if keys are numbers: the lines' keys as they were read
  std::vector<NumberBytes> number_bytes_;
  std::vector<std::string_view> lines_;  // if they are printed
  std::span<const std::string_view> texts_;
  std::vector<Hash128> digests_;
  std::vector<std::uint64_t> weights_;
  std::vector<Nanoseconds> times_;
  std::uint64_t num_lines_ = 0;
  std::uint64_t num_skipped_ = 0;
};

/// Prints how many lines were not counted, if any, those skipped and those left out as too late, and how many came out of
/// order.
void remark_lines_lost(bool quiet, std::uint64_t num_skipped, const TimeSteps& clock);

/// Reads all lines and calls use(records) for each batch.
template <class Use>
void for_each_record(RecordReader& reader, bool quiet, Use use) {
  Progress progress(quiet);
  while (true) {
    const StreamRecords records = reader.next();
    if (records.keys.empty()) return;
    use(records);
    progress.update(reader.num_lines(), reader.keys().bytes_read(), reader.keys().total_bytes());
    Meanwhile::run(false);
  }
}

}  // namespace tally::cli
