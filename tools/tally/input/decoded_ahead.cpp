#include "input/decoded_ahead.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "cli/caught.hpp"
#include "cli/meanwhile.hpp"
#include "cli/signals.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr std::size_t decoded_bytes = std::size_t{256} << 10;  // of a chunk
constexpr std::chrono::milliseconds a_while{100};  // between two looks at what else there is to do

}  // namespace

DecodedAhead::DecodedAhead(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

std::unique_ptr<ByteSource> DecodedAhead::of(std::unique_ptr<ByteSource> source) {
  std::unique_ptr<DecodedAhead> ahead(new DecodedAhead(std::move(source)));
  try {
    ahead->thread_ = std::thread([own = ahead.get()] { own->decode_all(); });
  } catch (const std::system_error&) {
    return std::move(ahead->source_);
  }
  return ahead;
}

DecodedAhead::~DecodedAhead() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_abandoned_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void DecodedAhead::decode_all() {
  const std::exception_ptr error = caught([&] { decode_chunks(); });
  const std::lock_guard lock(mutex_);
  error_ = error;
  has_ended_ = true;
  changed_.notify_all();
}

void DecodedAhead::decode_chunks() {
  while (Chunk* const chunk = wait_for_free_chunk()) {
    if (!decode(*chunk)) return;
    const std::lock_guard lock(mutex_);
    ++num_decoded_;
    changed_.notify_all();
  }
}

/// Null if nobody wants more.
DecodedAhead::Chunk* DecodedAhead::wait_for_free_chunk() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_abandoned_ || num_decoded_ - num_taken_ < chunks_.size(); });
  return is_abandoned_ ? nullptr : &chunks_[num_decoded_ % chunks_.size()];
}

/// False at the end, or if nobody wants more.
bool DecodedAhead::decode(Chunk& chunk) {
  chunk.bytes.resize(decoded_bytes);
  while (true) {
    if (const std::optional<std::size_t> count = source_->read_now(chunk.bytes)) {
      chunk.size = *count;
      chunk.file_bytes_read = source_->file_bytes_read();
      return *count > 0;
    }
    const auto set_waiting = [&](bool waits) {
      const std::lock_guard lock(mutex_);
      waits_for_file_ = waits;
      changed_.notify_all();
      return !is_abandoned_;
    };
    if (!set_waiting(true)) return false;
    source_->wait_for_file(static_cast<int>(a_while.count()));
    set_waiting(false);
  }
}

/// With the lock. Whether a reader need not wait for the other thread.
bool DecodedAhead::has_news() const noexcept {
  return num_taken_ < num_decoded_ || has_ended_ || waits_for_file_;
}

/// With the lock, and with news. Nothing if the file has no more for now.
std::optional<std::size_t> DecodedAhead::take(std::span<char> into) {
  if (stop_requested()) return 0;
  if (num_taken_ == num_decoded_) {
    if (error_) std::rethrow_exception(error_);
    return has_ended_ ? std::optional<std::size_t>(0) : std::nullopt;
  }
  const Chunk& chunk = chunks_[num_taken_ % chunks_.size()];
  const std::size_t count = std::min(into.size(), chunk.size - taken_of_chunk_);
  std::copy_n(chunk.bytes.data() + taken_of_chunk_, count, into.data());
  taken_of_chunk_ += count;
  file_bytes_read_ = chunk.file_bytes_read;
  if (taken_of_chunk_ == chunk.size) {
    taken_of_chunk_ = 0;
    ++num_taken_;
    changed_.notify_all();
  }
  return count;
}

std::optional<std::size_t> DecodedAhead::read_now(std::span<char> into) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return has_news(); });
  return take(into);
}

std::size_t DecodedAhead::read(std::span<char> into) {
  while (true) {
    if (const std::optional<std::size_t> count = read_now(into)) return *count;
    flush_before_waiting();
    Meanwhile::run(true);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, a_while, [&] { return !waits_for_file_ || num_taken_ < num_decoded_; });
  }
}

}  // namespace tally::cli
