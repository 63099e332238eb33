#include "input/read_ahead.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "input/key_loop.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t num_pieces = 6;
constexpr std::size_t long_bytes = std::size_t{1} << 20;

enum class Side : std::uint8_t { first, second };

/// A piece of the input. It belongs to the thread that is to take it from its state to the next one.
struct Piece {
  enum class State : std::uint8_t { free, taken, hashed, sieved, used };

  explicit Piece(const InputOptions& input) : fields(input.delimiter, input.fields) {
    constexpr std::size_t num_short_keys = BlockReader::block_bytes / 16;
    keys.reserve(num_short_keys);
    digests.reserve(num_short_keys);
  }

  std::atomic<State> state = State::free;
  std::vector<char> bytes;
  FieldSelector fields;
  std::vector<std::string_view> keys;  // all of them, or once sieved those that were absent
  std::vector<Hash128> digests;        // theirs
  std::uint64_t num_others = 0;        // that were not absent
  std::uint64_t num_remembered = 0;    // when that was found
  std::vector<Hash128> to_remember;
  std::exception_ptr error;  // in place of keys
};

template <class Work>
std::exception_ptr caught(Work work) {
  try {
    work();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

/// Pieces go round. Each thread does what is its own with the next piece that is ready for it, in the order of the
/// input; while there is none, it reads and hashes a further piece.
class TwoThreads {
 public:
  TwoThreads(const InputOptions& input, const KeyHasher& hasher, const WorkForTwo& work)
      : hasher_(hasher),
        work_(work),
        separator_(separator_of(input)),
        reader_(input.files, separator_, decompress_of(input)) {
    for (std::size_t i = 0; i < num_pieces; ++i) pieces_.emplace_back(input);
  }

  /// False, and nothing has been done, if there is no second thread to be had.
  bool run(bool quiet) {
    std::array<std::exception_ptr, 2> failures;
    std::jthread second;
    try {
      second = std::jthread([&] {
        failures[1] = caught([&] { run_second(); });
        second_has_ended_ = true;
        tell();
      });
    } catch (const std::system_error&) {
      return false;
    }
    failures[0] = caught([&] { run_first(quiet); });
    first_has_ended_ = true;
    tell();
    second.join();
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
    return true;
  }

 private:
  void run_first(bool quiet) {
    Progress progress(quiet);
    LineCutter cutter(separator_);
    std::uint64_t num_keys = 0;
    std::uint64_t next = 0;
    while (true) {
      const std::uint64_t seen = num_events_;
      if (second_has_ended_) return;  // before this one: it has failed
      if (is_at_end_ && next == num_taken_) return;
      if (Piece& ready = piece(next); ready.state == Piece::State::sieved) {
        if (ready.error) std::rethrow_exception(ready.error);
        use(ready);
        num_keys += ready.keys.size() + ready.num_others;
        set(ready, Piece::State::used);
        ++next;
        progress.update(num_keys, bytes_read_, reader_.total_bytes());
      } else if (!take_a_piece(Side::first, cutter)) {
        wait_for_more_than(seen);
      }
    }
  }

  void run_second() {
    LineCutter cutter(separator_);
    std::uint64_t next_used = 0;
    while (true) {
      const std::uint64_t seen = num_events_;
      const bool is_last_round = first_has_ended_;
      if (Piece& used = piece(next_used); used.state == Piece::State::used) {
        work_.remember(used.to_remember);
        num_remembered_ += used.to_remember.size();
        if (used.bytes.size() > long_bytes) used.bytes = std::vector<char>();  // of a long line
        set(used, Piece::State::free);
        ++next_used;
      } else if (is_last_round) {
        return;
      } else if (Piece& hashed = piece(next_to_sieve_); hashed.state == Piece::State::hashed) {
        begin_to_sieve(hashed);
        if (!hashed.error) sieve(hashed, 0);
        set(hashed, Piece::State::sieved);
      } else if (!take_a_piece(Side::second, cutter)) {
        wait_for_more_than(seen);
      }
    }
  }

  /// Reads and hashes the next piece, and sieves it where it is the next one to be; false if none is to be had now.
  bool take_a_piece(Side side, LineCutter& cutter) {
    if (is_at_end_ || is_reading_.test_and_set()) return false;
    const std::uint64_t number = num_taken_;
    Piece& taken = piece(number);
    const bool may_take = !is_at_end_ && taken.state == Piece::State::free && !waits_for_long_line(number);
    std::span<const char> block;
    if (may_take) {
      block = read_into(taken);
      bytes_read_ = reader_.bytes_read();
      last_block_bytes_ = block.size();
      if (taken.error || !block.empty()) {
        taken.state = Piece::State::taken;
        ++num_taken_;
      }
      if (block.empty()) is_at_end_ = true;
    }
    is_reading_.clear();
    if (!may_take) return false;
    tell();  // the other one may read
    if (block.empty() && !taken.error) return true;
    const bool sieves = side == Side::second && number == next_to_sieve_;
    if (sieves) begin_to_sieve(taken);
    if (!taken.error) taken.error = caught([&] { hash(taken, block, cutter, sieves); });
    set(taken, sieves ? Piece::State::sieved : Piece::State::hashed);
    return true;
  }

  /// There is at most one long line at a time, so that they do not take six times the memory.
  bool waits_for_long_line(std::uint64_t number) {
    return last_block_bytes_ > long_bytes && piece(number - 1).state != Piece::State::free;
  }

  std::span<const char> read_into(Piece& piece) {
    try {
      return reader_.next(piece.bytes);
    } catch (...) {
      piece.error = std::current_exception();
      return {};
    }
  }

  void hash(Piece& piece, std::span<const char> block, LineCutter& cutter, bool sieves) const {
    piece.fields.forget_joined();
    piece.keys.clear();
    piece.digests.clear();
    piece.num_others = 0;
    cutter.begin(block);
    std::vector<std::string_view> selected;
    Batch<Hash128> digests;
    while (true) {
      const std::span<const std::string_view> lines = cutter.next();
      if (lines.empty()) return;
      const WorkForTwo::Keys keys = piece.fields.select_all(lines, selected);
      hash_all(hasher_, keys, digests);
      const std::size_t begin = piece.keys.size();
      piece.keys.insert(piece.keys.end(), keys.begin(), keys.end());
      piece.digests.insert(piece.digests.end(), digests.data(), digests.data() + keys.size());
      if (sieves) sieve(piece, begin);
    }
  }

  void begin_to_sieve(Piece& piece) {
    piece.num_remembered = num_remembered_;
    ++next_to_sieve_;
  }

  /// Of the keys from number `begin` on, keeps those that are absent.
  void sieve(Piece& piece, std::size_t begin) const {
    Batch<std::uint32_t> absent;
    std::size_t num_kept = begin;
    for (; begin < piece.digests.size(); begin += absent.size()) {
      const std::size_t size = std::min(absent.size(), piece.digests.size() - begin);
      const std::size_t count = work_.find_absent({&piece.digests[begin], size}, absent);
      for (std::size_t i = 0; i < count; ++i, ++num_kept) {
        piece.keys[num_kept] = piece.keys[begin + absent[i]];
        piece.digests[num_kept] = piece.digests[begin + absent[i]];
      }
    }
    piece.num_others += piece.keys.size() - num_kept;
    piece.keys.resize(num_kept);
    piece.digests.resize(num_kept);
  }

  void use(Piece& piece) const {
    piece.to_remember.clear();
    const WorkForTwo::Keys keys = piece.keys;
    const WorkForTwo::Digests digests = piece.digests;
    std::size_t begin = 0;
    do {
      const std::size_t size = std::min(KeyReader::max_keys_a_call, keys.size() - begin);
      const WorkForTwo::Digests found = work_.use(keys.subspan(begin, size), digests.subspan(begin, size),
                                                  begin == 0 ? piece.num_others : 0, piece.num_remembered);
      piece.to_remember.insert(piece.to_remember.end(), found.begin(), found.end());
      begin += size;
    } while (begin < keys.size());
  }

  Piece& piece(std::uint64_t number) { return pieces_[number % num_pieces]; }

  void set(Piece& piece, Piece::State state) {
    piece.state = state;
    tell();
  }
  void tell() {
    ++num_events_;
    num_events_.notify_all();
  }
  /// Sleeps. Who watches instead takes the processor from what is waited for, where there are more threads than
  /// processors; and where there are enough, it gains nothing, since the other one has pieces in store.
  void wait_for_more_than(std::uint64_t num_events) const { num_events_.wait(num_events); }

  KeyHasher hasher_;
  const WorkForTwo& work_;
  char separator_;
  std::deque<Piece> pieces_;

  // Of the thread that has set is_reading_.
  std::atomic_flag is_reading_;
  BlockReader reader_;
  std::size_t last_block_bytes_ = 0;
  std::atomic<std::uint64_t> num_taken_ = 0;
  std::atomic<bool> is_at_end_ = false;
  std::atomic<std::uint64_t> bytes_read_ = 0;

  // Of the second thread.
  std::uint64_t next_to_sieve_ = 0;
  std::uint64_t num_remembered_ = 0;

  std::atomic<std::uint64_t> num_events_ = 0;
  std::atomic<bool> first_has_ended_ = false;
  std::atomic<bool> second_has_ended_ = false;
};

}  // namespace

bool can_read_ahead(const InputOptions& input) {
  const auto total_bytes = BlockReader(input.files, separator_of(input), decompress_of(input)).total_bytes();
  return total_bytes &&
         *total_bytes / BlockReader::block_bytes >= std::max<std::size_t>(1, input.files.size());
}

bool read_ahead(const InputOptions& input, const KeyHasher& hasher, bool quiet, const WorkForTwo& work) {
  return TwoThreads(input, hasher, work).run(quiet);
}

}  // namespace tally::cli
