#include "streams/state.hpp"

#include <bit>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace tally::cli {
namespace {

constexpr std::size_t words_of_entry = 4;
constexpr std::size_t words_of_node = 2;

constexpr std::string_view hash_option = "hash";
constexpr std::string_view seed_option = "seed (or id of the key)";

}  // namespace

void add_state(CommandLine app, std::string& path, bool& waits) {
  const Option state = add_file(
      app, "--state", path,
      "go on from this file, if it is there, and write it at the end or when interrupted: the next run "
      "with it answers as if the input had been one");
  app.add_flag("--wait", waits,
               "with --state: wait while another run has the file (default: end with an error, so that runs "
               "started at intervals do not pile up)")
      .needs(state);
}

void append_options(StateOptions& list, const InputOptions& input, const RecordOptions& records,
                    const KeyHasher& hasher) {
  list.insert(list.end(), {{std::string(hash_option), std::string(name_of(hasher.id()))},
                           {std::string(seed_option), std::to_string(hasher.seed_or_key_id())},
                           {"--null", input.nul_separated ? "yes" : "no"},
                           {"--delimiter", input.delimiter},
                           {"--fields", input.fields},
                           {"--sum", records.sum_fields},
                           {"--time", records.time_fields}});
}

void StreamState::draw_hash(HasherOptions& hasher) const {
  if (hasher.keyed && file_) {
    throw std::invalid_argument(
        "--keyed and --state are both given: the secret of --keyed ends with the run, and a state keeps "
        "none; "
        "give --key-file in place of --keyed");
  }
  hasher.draw();
  if (!file_ || hasher.seed_given() || !hasher.key_file.empty()) return;
  if (StateReader::saved_option(file_->path(), hash_option) != name_of(HashId::xxh3_128)) return;
  const std::string seed = StateReader::saved_option(file_->path(), seed_option).value_or("");
  (void)std::from_chars(seed.data(), seed.data() + seed.size(), hasher.seed);
}

bool StreamState::restore(const std::function<void(StateReader&)>& take_up) const {
  if (!file_) return false;
  auto state = StateReader::open(file_->path(), kind_, options_);
  if (!state) return false;
  take_up(*state);
  state->finish();
  return true;
}

void StreamState::save(const std::function<void(StateWriter&)>& put) const {
  if (!file_) return;
  StateWriter state(kind_, options_);
  put(state);
  file_->save(state.bytes());
}

void write(StateWriter& state, const TimeSteps& clock) {
  state.number(clock.has_begun());
  state.number(static_cast<std::uint64_t>(clock.latest()));
  state.number(clock.num_late());
  state.number(clock.num_left_out());
}

void read(StateReader& state, TimeSteps& clock) {
  const bool has_begun = state.number_at_most(1) == 1;
  const auto latest = static_cast<Nanoseconds>(state.number());
  // Lines' times are within these limits, so that differences fit.
  constexpr Nanoseconds most = 4'600'000'001 * nanoseconds_per_second;
  if (latest > most || latest < -most) state.fail("a time is out of range");
  const std::uint64_t num_late = state.number();
  clock.resume(has_begun, latest, num_late, state.number());
}

void write(StateWriter& state, const CountedKeys& keys) {
  std::vector<std::uint64_t> words;
  words.reserve(words_of_entry * keys.size());
  for (const CountedKeys::Entry& entry : keys.entries()) {
    words.insert(words.end(), {entry.digest.low, entry.digest.high, entry.count, entry.error});
  }
  state.numbers(words);
  words.clear();
  for (const CountedKeys::HeapNode& node : keys.heap()) words.insert(words.end(), {node.count, node.entry});
  state.numbers(words);
  for (std::uint32_t i = 0; i < keys.size(); ++i) state.text(keys.key_bytes(i));
}

CountedKeys read_counted_keys(StateReader& state, std::uint64_t capacity) {
  const std::vector<std::uint64_t> entry_words = state.numbers();
  const std::vector<std::uint64_t> node_words = state.numbers();
  std::vector<CountedKeys::Entry> entries;
  std::vector<CountedKeys::HeapNode> heap;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i + words_of_entry <= entry_words.size(); i += words_of_entry) {
    const std::uint64_t* const words = entry_words.data() + i;
    entries.push_back({{words[0], words[1]}, words[2], words[3]});
    keys.emplace_back(state.text());
  }
  for (std::size_t i = 0; i + words_of_node <= node_words.size(); i += words_of_node) {
    if (node_words[i + 1] >= entries.size()) state.fail("a number is out of range");
    heap.push_back({node_words[i], static_cast<std::uint32_t>(node_words[i + 1])});
  }
  return state.made([&] {
    return CountedKeys(capacity, "candidates", std::move(entries), std::move(keys), std::move(heap));
  });
}

}  // namespace tally::cli
