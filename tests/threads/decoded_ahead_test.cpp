#include "input/decoded_ahead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "random.hpp"

namespace tally::cli {
namespace {

/// A file that the test writes: like a pipe, it has no more for now until its end.
class Written : public ByteSource {
 public:
  struct State {
    std::string bytes = {};
    bool has_end = false;
    bool is_damaged = false;
    std::size_t num_read = 0;
    std::mutex mutex = {};
  };

  explicit Written(State& state) : state_(state) {}

  std::size_t read(std::span<char>) override { throw std::logic_error("waits"); }
  std::optional<std::size_t> read_now(std::span<char> into) override {
    const std::lock_guard lock(state_.mutex);
    const std::size_t count = std::min(into.size(), state_.bytes.size() - state_.num_read);
    if (count == 0 && state_.is_damaged) throw std::runtime_error("damaged");
    if (count == 0 && !state_.has_end) return std::nullopt;
    std::copy_n(state_.bytes.data() + state_.num_read, count, into.data());
    state_.num_read += count;
    return count;
  }
  void wait_for_file(int) const override { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
  std::uint64_t file_bytes_read() const noexcept override {
    const std::lock_guard lock(state_.mutex);
    return state_.num_read;
  }

 private:
  State& state_;
};

void write(Written::State& state, std::string_view bytes) {
  const std::lock_guard lock(state.mutex);
  state.bytes += bytes;
}

std::string random_bytes(std::size_t count) {
  test::Random random(count);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.next());
  return bytes;
}

/// What `read` gives until the end, at most that much at once.
std::string all_of(ByteSource& source, std::size_t largest_read) {
  std::string all;
  std::string buffer(largest_read, '\0');
  while (const std::size_t count = source.read(buffer)) all.append(buffer, 0, count);
  return all;
}

TEST(DecodedAhead, GivesTheBytesOfTheFileAndThenItsEnd) {
  for (const std::size_t num_bytes : {0, 1, 1000, 262'144, 3'000'000}) {
    for (const std::size_t largest_read : {1'000, 131'072, 1'000'000}) {
      Written::State state{.bytes = random_bytes(num_bytes), .has_end = true};
      const auto source = DecodedAhead::of(std::make_unique<Written>(state));
      EXPECT_TRUE(all_of(*source, largest_read) == state.bytes) << num_bytes << ' ' << largest_read;
      EXPECT_EQ(source->file_bytes_read(), num_bytes);
      char more = 0;
      EXPECT_EQ(source->read({&more, 1}), 0u);
    }
  }
}

TEST(DecodedAhead, ReadsNoMoreThanFourChunksAhead) {
  Written::State state{.bytes = std::string(10'000'000, 'x'), .has_end = true};
  const auto source = DecodedAhead::of(std::make_unique<Written>(state));
  char first = 0;
  EXPECT_EQ(source->read({&first, 1}), 1u);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::lock_guard lock(state.mutex);
  EXPECT_LE(state.num_read, std::size_t{4} << 18);
}

TEST(DecodedAhead, WithoutWaitingThereIsNothingWhileTheFileHasNoMore) {
  Written::State state;
  const auto source = DecodedAhead::of(std::make_unique<Written>(state));
  std::string buffer(10, '\0');
  for (const std::string part : {"first", "second"}) {
    EXPECT_EQ(source->read_now(buffer), std::nullopt);
    write(state, part);
    std::optional<std::size_t> count;
    while (!count) count = source->read_now(buffer);
    EXPECT_EQ(buffer.substr(0, *count), part);
  }
}

TEST(DecodedAhead, WaitsForAFileThatIsWrittenMeanwhile) {
  Written::State state;
  const auto source = DecodedAhead::of(std::make_unique<Written>(state));
  const std::string bytes = random_bytes(700'000);
  std::future<std::string> all = std::async(std::launch::async, [&] { return all_of(*source, 5'000); });
  for (std::size_t begin = 0; begin < bytes.size(); begin += 70'000) {
    write(state, std::string_view(bytes).substr(begin, 70'000));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  {
    const std::lock_guard lock(state.mutex);
    state.has_end = true;
  }
  EXPECT_TRUE(all.get() == bytes);
}

TEST(DecodedAhead, ThrowsADamageAfterTheBytesBeforeIt) {
  Written::State state{.bytes = random_bytes(600'000), .is_damaged = true};
  const auto source = DecodedAhead::of(std::make_unique<Written>(state));
  std::string all(600'000, '\0');
  for (std::size_t count = 0; count < all.size();) count += source->read(std::span(all).subspan(count));
  EXPECT_TRUE(all == state.bytes);
  char more = 0;
  EXPECT_THROW((void)source->read({&more, 1}), std::runtime_error);
}

TEST(DecodedAhead, EndsWithoutBytesToReadAndWithUnreadOnes) {
  for (const std::size_t num_bytes : {0, 10'000'000}) {
    Written::State state{.bytes = std::string(num_bytes, 'x')};
    const auto source = DecodedAhead::of(std::make_unique<Written>(state));
    std::this_thread::sleep_for(std::chrono::milliseconds(num_bytes == 0 ? 5 : 0));
  }
}

}  // namespace
}  // namespace tally::cli
