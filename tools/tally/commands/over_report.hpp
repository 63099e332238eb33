#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "commands/over.hpp"
#include "input/live_status.hpp"
#include "input/printed_key.hpp"
#include "tally/streams/exact_check.hpp"
#include "tally/streams/observer.hpp"
#include "tally/streams/reached_key.hpp"
#include "text/output.hpp"

namespace tally::cli {

/// Writes the keys that are reported.
class OverReport {
 public:
  explicit OverReport(const OverOptions& options);

  /// `texts` as of for_each_batch.
  void write(std::span<const std::string_view> texts, std::span<const ReachedKey> reached);
  /// With --counts-at-end: a key and its count in the whole input, or a key that is not counted any further.
  void write_counted(std::string_view text, std::uint64_t count, bool is_counted);
  /// The input, read with which the header of its lines is printed, too.
  InputOptions input() { return printed_.follow(options_.input, output_); }
  void finish(const Json& summary);
  /// What is said while the input is read.
  LiveStatus status(LiveStatus::Says says) {
    return LiveStatus(std::move(says), options_.every, options_.json ? &output_ : nullptr);
  }

 private:
  void write(std::string_view text, std::uint64_t count);

  const OverOptions& options_;
  Output output_;
  PrintedKey printed_;
};

/// Prints a remark on each event of a stream, and passes the events on to the exact count.
class OverObserver : public StreamObserver {
 public:
  /// `check` may be null.
  OverObserver(const OverOptions& options, ExactCheck* check) : options_(options), check_(check) {}

  void ended_exact_counting(std::uint64_t num_keys) override;
  void opened_generation(const OpenedGeneration& opened) override;
  void exceeded_plan(const ExceededPlan& excess) override;
  void filled_reported_keys(std::uint64_t num_keys) override;
  bool follows_keys() const override { return check_ != nullptr; }
  void counted(Hash128 digest) override { check_->counted(digest); }
  void took(std::size_t index, bool is_reported) override { check_->took(index, is_reported); }

 private:
  void say(const std::string& text) const { remark(options_.quiet, text); }

  const OverOptions& options_;
  ExactCheck* check_;
};

/// With --with-count: prints a remark that the printed counts or sums are not those of the whole input.
void explain_counts(const OverOptions& options);

}  // namespace tally::cli
