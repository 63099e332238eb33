#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/caught.hpp"
#include "input/fields/field_selector.hpp"
#include "input/key_reader.hpp"
#include "tally/hashing/hash128.hpp"

namespace tally::cli {

/// A piece of the input. It belongs to the thread that is to take it from its state to the next one.
struct Piece {
  enum class State : std::uint8_t { free, taken, hashed, sieved, used };

  explicit Piece(const InputOptions& input);

  std::atomic<State> state = State::free;
  std::vector<char> bytes;
  std::span<const char> block;  // of the bytes, what was read
  FieldSelector fields;
  std::vector<std::string_view> texts;  // of all keys, what is printed; once sieved of those that were absent
  std::vector<Hash128> digests;         // of the keys
  std::uint64_t num_others = 0;         // keys that were not absent
  std::uint64_t num_remembered = 0;     // when that was found
  std::vector<Hash128> to_remember;
  std::exception_ptr error;        // in place of texts
  std::exception_ptr error_after;  // once they are used
  std::size_t file_number = 0;
  std::uint64_t num_lines = 0;
  std::uint64_t num_skipped = 0;  // lines with a missing or invalid key
  std::optional<std::uint64_t>
      refused_line;                        // the first one of those, counted from 0, if they are not skipped
  std::string refusal;                     // why
  std::optional<std::string_view> header;  // if it begins a file that has one
};

/// The pieces that threads pass to each other, in the order of the input, and what wakes a thread that waits.
class Pieces {
 public:
  Pieces(const InputOptions& input, std::uint32_t num_threads);

  /// Piece number n of the input.
  Piece& operator[](std::uint64_t number) { return pieces_[number % pieces_.size()]; }

  void set(Piece& piece, Piece::State state) {
    piece.state = state;
    tell();
  }

  /// Something has changed that another thread may wait for. It is woken when there is some work for it, or nothing else to
  /// do: woken for every piece, two threads on one processor would take turns all the time.
  void tell() {
    std::unique_lock lock(mutex_);
    ++num_events_;
    if (++num_untold_ >= pieces_.size() / 2) wake(lock);
  }
  /// The same, and wakes them now.
  void tell_and_wake() {
    tell();
    tell_now();
  }
  /// Wakes the others if something has changed. To be called before waiting for anything but them.
  void tell_now() {
    std::unique_lock lock(mutex_);
    wake(lock);
  }
  std::uint64_t num_events() const { return num_events_; }
  /// Sleeps until there are more events than that. A thread that polled instead would take the processor from the one that
  /// it waits for, if there are more threads than processors; if there are enough, it would gain nothing, since the other
  /// thread has pieces in store. An std::atomic would be polled for a while, too.
  void wait_for_more_than(std::uint64_t num_events) {
    std::unique_lock lock(mutex_);
    wake(lock);
    if (!lock) lock.lock();
    changed_.wait(lock, [&] { return num_events_ > num_events; });
  }

  std::atomic<bool> first_has_ended = false;
  std::atomic<bool> second_has_ended = false;

 private:
  /// Gives up the lock before that, so that the others need not wait for it again.
  void wake(std::unique_lock<std::mutex>& lock) {
    if (std::exchange(num_untold_, 0) == 0) return;
    lock.unlock();
    changed_.notify_all();
  }

  std::deque<Piece> pieces_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::uint64_t> num_events_ = 0;
  std::size_t num_untold_ = 0;
};

}  // namespace tally::cli
