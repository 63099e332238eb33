#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "cli/command.hpp"
#include "input/key_loop.hpp"
#include "input/read_ahead/work_for_two.hpp"
#include "tally/hashing/key_hasher.hpp"

namespace tally::cli {

/// --threads, of a command some of whose threads do more ("the second one also looks up the printed keys"), with the name of its output
/// and the flags with which it uses one thread.
void add_threads(CommandLine app, InputOptions& input, std::string_view flags, std::string_view work,
                 std::string_view output, std::string_view flags_for_one);

/// Whether more than one thread is wanted, by default where there are more processors, and not for tiny files or a terminal.
bool wants_to_read_ahead(const InputOptions& input);

/// Reads and hashes all keys, and works on them, in two threads; in further ones it reads and hashes. All that a pipe has
/// brought is used before anything waits for more. `use` receives at most KeyReader::max_keys_a_call keys per call. Returns
/// false, and has done nothing, if no second thread is available. `totals` says what was read so far; of skipped lines
/// nothing is printed. Throws what for_each_batch throws, and what the work throws.
bool read_ahead(const InputOptions& input, const KeyHasher& hasher, bool quiet, const WorkForTwo& work,
                KeyTotals& totals);

/// Reads and hashes all keys, and calls use(digests) for batches in the order of the input; in a second thread if
/// that is wanted. All but the last have one size, whatever pieces the input comes in: what a d-left filter looks like
/// depends on it. Throws what for_each_batch and `use` throw.
KeyTotals for_each_digest_batch(const InputOptions& input, const KeyHasher& hasher, bool quiet,
                                const std::function<void(std::span<const Hash128>)>& use);

/// The same for keys that two threads use at the same time, each all of them in the order of the input: calls lower(digests)
/// and upper(digests). The batches have any size. Returns std::nullopt, and has done nothing, if one thread is wanted or if no
/// second one is available.
std::optional<KeyTotals> for_each_digest_in_halves(
    const InputOptions& input, const KeyHasher& hasher, bool quiet,
    const std::function<void(std::span<const Hash128>)>& lower,
    const std::function<void(std::span<const Hash128>)>& upper);

/// Writes the indices of some of the digests, in order, and returns their number.
using SelectDigests =
    std::function<std::size_t(std::span<const Hash128> digests, std::span<std::uint32_t> indices)>;

/// Selects some of the digests: in one step, or also in two, which two threads may take at the same time for different digests.
struct DigestSelection {
  SelectDigests whole;
  SelectDigests first = {};   ///< empty if there is one step only
  SelectDigests rest = {};    ///< of those that `first` has selected
  bool in_any_order = false;  ///< of one step: threads may take it at the same time, in any order
};

/// Reads and hashes all keys, and calls print(texts of the selected keys, number of the others) in the order of the input.
/// If wants_to_read_ahead, a second thread takes the whole step, or the first of two; if any order will do, all threads take
/// the whole step. Throws what for_each_batch and `print` throw, and what the selection throws once the keys that it selected
/// before are printed. `totals` says what was read so far.
void for_selected_texts(const InputOptions& input, const KeyHasher& hasher, bool quiet, KeyTotals& totals,
                        const DigestSelection& select,
                        const std::function<void(Texts texts, std::uint64_t num_others)>& print);

}  // namespace tally::cli
