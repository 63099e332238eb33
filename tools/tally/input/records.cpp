#include "input/records.hpp"

#include <fmt/core.h>

#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>

#include "input/event_time.hpp"

namespace tally::cli {
namespace {

// Access logs have a dash for no bytes.
bool parse_weight(std::string_view text, std::uint64_t& weight) {
  weight = 0;
  if (text == "-") return true;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void add_sum(CommandLine app, RecordOptions& options) {
  app.add_option("--sum", options.sum_fields,
                 "Add up this field instead of counting lines (whole numbers; '-' is 0)")
      .type_name("FIELD")
      .group("Input");
}

void add_time(CommandLine app, RecordOptions& options) {
  app.add_option(
         "--time", options.time_fields,
         "Fields with the time of a line: seconds or milliseconds since 1970, ISO 8601 (RFC 3339), or as "
         "in access logs or syslog (default: the time when the line is read)")
      .type_name("LIST")
      .group("Input");
}

namespace {

/// A name in one list needs the header for all.
InputOptions with_header(InputOptions input, const RecordOptions& options) {
  for (const auto& [list, flag] :
       {std::pair(options.sum_fields, "--sum"), std::pair(options.time_fields, "--time")})
    input.fields.has_header =
        input.fields.has_header || FieldSelector(input.fields, list, flag).needs_header();
  return input;
}

}  // namespace

RecordReader::RecordReader(const InputOptions& input, const RecordOptions& options, const KeyHasher& hasher,
                           bool with_times)
    : input_(input),
      options_(options),
      hasher_(hasher),
      with_times_(with_times || has_time_fields()),
      reader_(with_header(input, options)),
      weight_field_(input.fields, options.sum_fields, "--sum"),
      time_field_(input.fields, options.time_fields, "--time"),
      keys_(KeyReader::max_keys_a_call),
      numbers_(has_numbers() ? KeyReader::max_keys_a_call : 0),
      number_bytes_(numbers_.size()),
      lines_(input.prints_lines ? KeyReader::max_keys_a_call : 0),
      digests_(KeyReader::max_keys_a_call),
      weights_(has_weights() ? KeyReader::max_keys_a_call : 0),
      times_(with_times_ ? KeyReader::max_keys_a_call : 0) {}

void RecordReader::refuse(std::size_t index, std::string_view flag, std::string_view text,
                          std::string_view what) const {
  throw std::runtime_error(fmt::format("{}: '{}' in the {} field is not {}; --skip-bad skips such lines",
                                       reader_.place_of(index), text.substr(0, 80), flag, what));
}

/// Sets the number, its bytes and its digest at `at`; returns false if the line is to be skipped.
bool RecordReader::read_number(std::string_view key, std::size_t index, std::size_t at) {
  std::uint64_t bits = 0;
  if (!parse_key(input_.key_type, key, bits)) {
    if (input_.skip_bad) return false;
    throw std::runtime_error(reader_.place_of(index) + ": " + refusal_of_key(input_, key));
  }
  numbers_[at] = key;
  number_bytes_[at] = bytes_of_number(bits);
  keys_[at] = view_of(number_bytes_[at]);
  digests_[at] = hasher_(bits);
  return true;
}

/// Sets the weight and the time at `at`; returns false if the line is to be skipped.
bool RecordReader::read_line(std::size_t index, std::size_t at) {
  if (has_weights()) {
    const std::optional<std::string_view> text = field_of(weight_field_, index);
    if (!text) return false;
    if (!parse_weight(*text, weights_[at])) {
      if (input_.skip_bad) return false;
      refuse(index, "--sum", *text, "a whole number from 0 to 2^64 - 1");
    }
  }
  if (has_time_fields()) {
    const std::optional<std::string_view> text = field_of(time_field_, index);
    if (!text) return false;
    const std::optional<Nanoseconds> time = parse_time(*text, now_);
    if (!time) {
      if (input_.skip_bad) return false;
      refuse(index, "--time", *text,
             "a time (seconds or milliseconds since 1970, ISO 8601, or as in access logs or syslog)");
    }
    times_[at] = *time;
  }
  return true;
}

void RecordReader::take_header() {
  num_headers_ = reader_.num_headers();
  if (weight_field_.needs_header()) weight_field_.take_header(reader_.header());
  if (time_field_.needs_header()) time_field_.take_header(reader_.header());
}

/// Throws std::runtime_error for a field that is not in the line, unless the line is to be skipped.
std::optional<std::string_view> RecordReader::field_of(FieldSelector& fields, std::size_t index) {
  const std::string_view text = fields.select(reader_.lines()[index]);
  if (!FieldSelector::is_bad(text)) return text;
  if (input_.skip_bad) return std::nullopt;
  throw std::runtime_error(reader_.place_of(index) + ": " + refusal_of_line(fields, reader_.lines()[index]));
}

StreamRecords RecordReader::next() {
  std::size_t num_kept = 0;
  while (num_kept == 0) {
    const std::span<const std::string_view> keys = reader_.next();
    if (keys.empty()) return {};
    if (with_times_) now_ = time_now();
    if (num_headers_ != reader_.num_headers()) take_header();
    weight_field_.forget_joined();
    time_field_.forget_joined();
    const bool has_more_fields = has_weights() || has_time_fields();
    const bool keys_are_numbers = has_numbers();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ++num_lines_;
      if ((has_more_fields && !read_line(i, num_kept)) ||
          (keys_are_numbers && !read_number(keys[i], i, num_kept))) {
        ++num_skipped_;
        continue;
      }
      if (!keys_are_numbers) {
        keys_[num_kept] = keys[i];
        digests_[num_kept] = hasher_(keys[i]);
      }
      if (input_.prints_lines) lines_[num_kept] = reader_.lines()[i];
      ++num_kept;
    }
  }
  if (with_times_ && !has_time_fields()) std::fill_n(times_.begin(), num_kept, now_);
  const auto first = [&](auto& all) { return std::span(all).first(all.empty() ? 0 : num_kept); };
  texts_ = first(input_.prints_lines ? lines_ : has_numbers() ? numbers_ : keys_);
  return {first(keys_), first(digests_), first(weights_), first(times_)};
}

void remark_lines_lost(bool quiet, std::uint64_t num_skipped, const TimeSteps& clock) {
  if (num_skipped > 0)
    remark(quiet, fmt::format("{} lines skipped: missing or invalid field, number or time", num_skipped));
  const std::uint64_t num_counted = clock.num_late() - clock.num_left_out();
  if (num_counted > 0)
    remark(quiet, fmt::format("{} lines were out of order, and counted at the latest time before them",
                              num_counted));
  if (clock.num_left_out() > 0)
    remark(quiet,
           fmt::format("{} lines were late by more than the window and left out", clock.num_left_out()));
}

}  // namespace tally::cli
