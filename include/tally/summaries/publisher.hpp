#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tally/storage/bit_array.hpp"
#include "tally/summaries/delta.hpp"

namespace tally {

struct SummaryOptions {
  /// Names the directory among its peers: 1 to 255 bytes.
  std::string publisher;
  /// Tells this run from earlier ones of the same publisher: later runs take higher numbers. 0: the time, in microseconds.
  std::uint64_t epoch = 0;
};

/// The sender's side of every summary: remembers the version that was published last and which blocks of 64 units may
/// have changed since, and makes messages. DirectorySummary uses it; so may whoever has bits of his own.
///
/// Costs as much memory as the units, and 1/64 bit more for each. Whatever changes, nothing overflows: a change and
/// its reverse cancel out, and where a delta were longer than a full copy a full copy is sent.
class SummaryPublisher {
 public:
  /// Throws std::invalid_argument for a layout or a name out of range, std::bad_alloc.
  SummaryPublisher(const SummaryLayout& layout, SummaryOptions options);

  SummaryPublisher(const SummaryPublisher&) = default;
  SummaryPublisher(SummaryPublisher&&) noexcept = default;
  SummaryPublisher& operator=(const SummaryPublisher& other) { return *this = SummaryPublisher(other); }
  SummaryPublisher& operator=(SummaryPublisher&&) noexcept = default;
  ~SummaryPublisher() = default;

  /// Says that a unit may have changed, or any.
  void touch(std::uint64_t unit) noexcept {
    if (!all_touched_) touched_.set(unit / 64);
  }
  void touch_all() noexcept { all_touched_ = true; }

  /// Makes a version of what `words` hold (of the layout that change_layout told of last; as many as the layout says; of cells one more, as CellTable has it) and
  /// returns the message that brings followers to it: a delta, or a full copy where that is shorter, or the first. If
  /// nothing changed it is a heartbeat, and the version is the last one. Throws std::bad_alloc, and no version was made
  /// then: what changed stands in the next one.
  std::vector<std::byte> publish(std::span<const std::uint64_t> words, SummaryTime now = summary_time_now());

  /// Another number of units, or other cells, from the next version on, which is sent as a full copy. Throws
  /// std::invalid_argument for a layout out of range.
  void change_layout(const SummaryLayout& layout);

  /// The last version again, all of it, for those who missed something.
  std::vector<std::byte> full(SummaryTime now = summary_time_now()) const;

  /// Which version is the last one.
  std::vector<std::byte> heartbeat(SummaryTime now = summary_time_now()) const;

  /// What a request is answered by: a full copy, or a heartbeat if the asker holds the last version. If it holds one of a
  /// later epoch (a clock was set back), that of the publisher becomes a still later one. Nothing if the request
  /// is for another publisher. Throws std::invalid_argument for a message that is no request, std::bad_alloc; nothing has
  /// changed then.
  std::vector<std::byte> answer(const SummaryMessage& request, SummaryTime now = summary_time_now());

  SummaryVersion version() const noexcept { return version_; }
  /// The last version's units.
  const SummaryTable& published() const noexcept { return published_; }
  /// Of the last version.
  const SummaryLayout& layout() const noexcept { return published_.layout(); }
  const std::string& name() const noexcept { return name_; }
  std::uint64_t num_bytes() const noexcept { return layout().num_bytes() + 8 * touched_.words().size(); }

 private:
  SummaryEnvelope envelope(SummaryTime now) const noexcept;
  std::vector<std::byte> publish_new_layout(std::span<const std::uint64_t> words, SummaryTime now);

  std::string name_;
  SummaryVersion version_;
  std::uint64_t digest_ = 0;
  std::uint64_t num_set_ = 0;  // units of the last version that are not 0
  SummaryTable published_;
  SummaryLayout next_layout_;
  BitArray touched_;  // blocks of published_
  bool all_touched_ = true;
  bool full_is_next_ = true;
};

}  // namespace tally
