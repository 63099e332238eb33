#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tally/export.hpp"
#include "tally/storage/bit_array.hpp"
#include "tally/summaries/delta.hpp"

namespace tally {

/// The name of a publisher, and how its messages are written and signed.
struct SummaryOptions {
  /// The name of the directory among its peers: 1 to 255 bytes.
  std::string publisher;
  /// Distinguishes this run from earlier runs of the same publisher: later runs use higher numbers. 0: the
  /// time in microseconds.
  std::uint64_t epoch = 0;
  /// A full copy with more units that are set is sent as plain words, which is faster to write and takes more bytes.
  std::uint64_t max_coded_units = ~std::uint64_t{0};
  /// Signs all messages.
  std::optional<MessageKey> key = {};
};

/// The sending side of every summary. It stores the last published version and which blocks of 64 units may
/// have changed since, and makes messages. DirectorySummary uses it, and you can use it for bits of your own.
///
/// It takes as much memory as the units, plus 1/64 bit for each. Nothing overflows, whatever changes: a
/// change and its reverse cancel out, and if a delta would be longer than a full copy, a full copy is sent.
class TALLY_EXPORT SummaryPublisher {
 public:
  /// Throws std::invalid_argument for a layout or a name out of range, std::bad_alloc.
  SummaryPublisher(const SummaryLayout& layout, SummaryOptions options);

  SummaryPublisher(const SummaryPublisher&) = default;
  SummaryPublisher(SummaryPublisher&&) noexcept = default;
  SummaryPublisher& operator=(const SummaryPublisher& other) { return *this = SummaryPublisher(other); }
  SummaryPublisher& operator=(SummaryPublisher&&) noexcept = default;
  ~SummaryPublisher() = default;

  /// Marks that a unit may have changed, or any unit.
  void touch(std::uint64_t unit) noexcept {
    if (!all_touched_) touched_.set(unit / 64);
  }
  void touch_all() noexcept { all_touched_ = true; }

  /// Whether the next version has another layout than the last one, and so nothing in common with it.
  bool is_layout_changing() const noexcept { return is_layout_changing_; }

  /// Makes a version of the contents of `words` and returns the message that brings followers to it: a delta,
  /// or a full copy if that is shorter or if this is the first version. If nothing changed, the message is a
  /// heartbeat, and the version stays the same. The words must have the layout given to change_layout last,
  /// and the number that this layout requires; for cells one more, as CellTable has. Throws std::bad_alloc,
  /// and then makes no version: the next one will have the changes.
  std::vector<std::byte> publish(std::span<const std::uint64_t> words, SummaryTime now = summary_time_now());

  /// Does a part of the work of the next publish beforehand, for callers where no call may take long: compares blocks that
  /// may have changed with the last version and takes their units over, until it has met `max_changes` units that changed
  /// or blocks that did not. Returns whether it has come to the last block; blocks that were touched meanwhile are left for
  /// publish, or for another round. The last version is gone then: full, heartbeat and answer return nothing until the next
  /// one, which is sent as a full copy. `words` as for publish. Throws std::bad_alloc if the layout has changed, and then
  /// has done nothing.
  bool catch_up(std::span<const std::uint64_t> words, std::uint64_t max_changes);

  /// Changes the number of units, or the cells, from the next version on, which is sent as a full copy.
  /// Throws std::invalid_argument for a layout out of range.
  void change_layout(const SummaryLayout& layout);

  /// The whole last version again, for replicas that missed something.
  std::vector<std::byte> full(SummaryTime now = summary_time_now()) const;

  /// A message that names the last version.
  std::vector<std::byte> heartbeat(SummaryTime now = summary_time_now()) const;

  /// The answer to a request: a full copy, or a heartbeat if the sender holds the last version. If the sender
  /// has heard of a later version (the clock was set back), the publisher's epoch is set to one that is still
  /// later. Empty if the request is for another publisher. Throws std::invalid_argument for a message that is
  /// not a request, and std::bad_alloc, and then changes nothing.
  std::vector<std::byte> answer(const SummaryMessage& request, SummaryTime now = summary_time_now());

  SummaryVersion version() const noexcept { return version_; }
  /// Whether the next version is sent as a full copy whatever has changed.
  bool full_is_next() const noexcept { return full_is_next_; }
  /// The units of the last version, after catch_up a mixture of it and the next one.
  const SummaryTable& published() const noexcept { return published_; }
  /// The layout of the last version.
  const SummaryLayout& layout() const noexcept { return published_.layout(); }
  const std::string& name() const noexcept { return name_; }
  std::uint64_t num_bytes() const noexcept { return layout().num_bytes() + 8 * touched_.words().size(); }

 private:
  SummaryEnvelope envelope(SummaryTime now) const noexcept;
  SummaryPublisher with_next_layout() const;

  std::string name_;
  SummaryVersion version_;
  std::uint64_t digest_ = 0;
  std::uint64_t num_set_ = 0;  // number of units of the last version that are not 0
  SummaryTable published_;
  SummaryLayout next_layout_;
  BitArray touched_;  // blocks of published_
  bool all_touched_ = true;
  bool is_layout_changing_ = false;
  bool full_is_next_ = true;
  bool is_catching_up_ = false;   // published_ is no version
  std::uint64_t next_block_ = 0;  // of catch_up
  std::uint64_t max_coded_units_;
  std::optional<MessageKey> key_;
};

}  // namespace tally
