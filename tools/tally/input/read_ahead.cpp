#include "input/read_ahead.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "cli/options.hpp"
#include "input/read_ahead/sieving_thread.hpp"
#include "input/read_ahead/using_thread.hpp"

namespace tally::cli {
namespace {

constexpr std::uint32_t max_threads = 64;
// What the first two do is the bound then, unless finding the keys in the lines takes long.
constexpr std::uint32_t default_threads = 4;

}  // namespace

void add_threads(CommandLine app, InputOptions& input, std::string_view flags, std::string_view work,
                 std::string_view output, std::string_view flags_for_one) {
  add_count(
      app, std::string(flags), input.num_threads,
      fmt::format("Number of threads, which all read and hash{}{}; if there are several, a further one "
                  "decompresses; {} is the "
                  "same for any number (default: one per processor up to {}; 1 on a terminal and with {})",
                  work.empty() ? "" : "; ", work, output, default_threads, flags_for_one),
      {1, max_threads});
}

namespace {

/// 1 to max_threads.
std::uint32_t num_threads_of(const InputOptions& input) {
  return input.num_threads.value_or(
      std::clamp<std::uint32_t>(std::thread::hardware_concurrency(), 1, default_threads));
}

bool reads_terminal(const InputOptions& input) {
  const auto is_standard_input = [](const std::string& file) { return file == "-"; };
  return ::isatty(STDIN_FILENO) == 1 &&
         (input.files.empty() || std::ranges::any_of(input.files, is_standard_input));
}

}  // namespace

bool wants_to_read_ahead(const InputOptions& input) {
  if (input.follow || num_threads_of(input) < 2) return false;
  const auto total_bytes = BlockReader(input.files, separator_of(input), decompress_of(input)).total_bytes();
  if (!total_bytes) return !reads_terminal(input);
  return *total_bytes / BlockReader::block_bytes >= std::max<std::size_t>(1, input.files.size());
}

namespace {

void hash_further(const WorkForTwo& work, Pieces& pieces, Supply& supply) {
  LineCutter cutter(supply.separator());
  while (true) {
    const std::uint64_t seen = pieces.num_events();
    if (pieces.first_has_ended || pieces.second_has_ended || supply.is_at_end()) break;
    if (!supply.read_further(cutter, Supply::waits_for_no_pipe, work)) pieces.wait_for_more_than(seen);
  }
  pieces.tell_now();  // of the last piece, which nobody else may hash any more
}

}  // namespace

// Pieces go round. Each of the first two threads does what is its own with the next piece that is ready for it, in the order of
// the input; while there is none, it reads and hashes a further piece, as all others always do.
bool read_ahead(const InputOptions& input, const KeyHasher& hasher, bool quiet, const WorkForTwo& work,
                KeyTotals& totals) {
  const std::uint32_t num_threads = std::max(2u, num_threads_of(input));
  Pieces pieces(input, num_threads);
  Supply supply(input, hasher, pieces);
  std::array<std::exception_ptr, 2> failures;
  std::vector<std::jthread> further;
  further.reserve(num_threads);
  std::jthread second;
  try {
    second = std::jthread([&] {
      failures[1] = caught([&] { SievingThread(work, pieces, supply).run(); });
      pieces.second_has_ended = true;
      pieces.tell_and_wake();
    });
  } catch (const std::system_error&) {
    return false;
  }
  try {
    while (further.size() + 2 < num_threads)
      further.emplace_back([&] { hash_further(work, pieces, supply); });
  } catch (const std::system_error&) {  // then there are fewer
  }
  failures[0] = caught([&] { run_using_thread(input, work, pieces, supply, quiet, totals); });
  pieces.first_has_ended = true;
  pieces.tell_and_wake();
  second.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return true;
}

namespace {

/// Reads ahead if that is wanted, and prints how many lines were skipped. Returns false, and has done nothing, if it is not
/// wanted or if no second thread is available.
bool read_ahead_if_wanted(const InputOptions& input, const KeyHasher& hasher, bool quiet,
                          const WorkForTwo& work, KeyTotals& totals) {
  if (!wants_to_read_ahead(input) || !read_ahead(input, hasher, quiet, work, totals)) return false;
  remark_skipped(quiet, totals.num_skipped);
  return true;
}

}  // namespace

KeyTotals for_each_digest_batch(const InputOptions& input, const KeyHasher& hasher, bool quiet,
                                const std::function<void(std::span<const Hash128>)>& use) {
  using Digests = WorkForTwo::Digests;
  Batch<Hash128> batch;
  std::size_t num_kept = 0;
  const auto regroup = [&](Digests digests) {
    while (!digests.empty()) {
      const std::size_t count = std::min(batch.size() - num_kept, digests.size());
      std::copy_n(digests.begin(), count, batch.begin() + static_cast<std::ptrdiff_t>(num_kept));
      digests = digests.subspan(count);
      num_kept += count;
      if (num_kept < batch.size()) return;
      num_kept = 0;
      use(batch);
    }
  };
  // The second thread uses the keys, and leaves none for the first one, which reads.
  const WorkForTwo work{.find_absent =
                            [&](Digests digests, std::span<std::uint32_t>) {
                              regroup(digests);
                              return std::size_t{0};
                            },
                        .remember = [](Digests) {},
                        .use = [](Texts, Digests, std::uint64_t, std::uint64_t) { return Digests(); }};
  KeyTotals totals;
  if (!read_ahead_if_wanted(input, hasher, quiet, work, totals))
    for_each_batch(input, hasher, quiet, totals, [&](Texts, Digests digests) { regroup(digests); });
  use(std::span(batch).first(num_kept));
  return totals;
}

std::optional<KeyTotals> for_each_digest_in_halves(
    const InputOptions& input, const KeyHasher& hasher, bool quiet,
    const std::function<void(std::span<const Hash128>)>& lower,
    const std::function<void(std::span<const Hash128>)>& upper) {
  using Digests = WorkForTwo::Digests;
  const WorkForTwo work{.find_absent =
                            [&](Digests digests, std::span<std::uint32_t> indices) {
                              lower(digests);
                              std::iota(indices.begin(), indices.begin() + std::ssize(digests), 0u);
                              return digests.size();
                            },
                        .remember = [](Digests) {},
                        .use =
                            [&](Texts, Digests digests, std::uint64_t, std::uint64_t) {
                              upper(digests);
                              return Digests();
                            }};
  KeyTotals totals;
  if (!read_ahead_if_wanted(input, hasher, quiet, work, totals)) return std::nullopt;
  return totals;
}

void for_selected_texts(const InputOptions& input, const KeyHasher& hasher, bool quiet, KeyTotals& totals,
                        const DigestSelection& select,
                        const std::function<void(Texts texts, std::uint64_t num_others)>& print) {
  using Digests = WorkForTwo::Digests;
  const auto print_selected = [&](const SelectDigests& step, Texts texts, Digests digests,
                                  std::uint64_t num_others) {
    Batch<std::uint32_t> indices;
    Batch<std::string_view> selected;
    const std::size_t count = step(digests, indices);
    for (std::size_t i = 0; i < count; ++i) selected[i] = texts[indices[i]];
    print(std::span(selected).first(count), num_others + texts.size() - count);
  };
  const WorkForTwo work{.find_absent = select.first ? select.first : select.whole,
                        .in_any_order = select.in_any_order,
                        .remember = [](Digests) {},
                        .use =
                            [&](Texts texts, Digests digests, std::uint64_t num_others, std::uint64_t) {
                              if (select.rest) print_selected(select.rest, texts, digests, num_others);
                              else print(texts, num_others);
                              return Digests();
                            }};
  if (read_ahead_if_wanted(input, hasher, quiet, work, totals)) return;
  for_each_batch(input, hasher, quiet, totals, [&](Texts, Texts texts, Digests digests) {
    print_selected(select.whole, texts, digests, 0);
  });
}

}  // namespace tally::cli
