#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "streams_arguments.hpp"
#include "tally/streams/state_reader.hpp"
#include "tally/streams/state_writer.hpp"
#include "tally/streams/sum.hpp"
#include "tally/streams/threshold.hpp"
#include "tally/streams/top.hpp"

// The state of a stream as bytes. The options that it contains have the names of Python's arguments.

namespace tally::python {

/// The options in the first bytes of a state. Nothing is checked yet: StateReader refuses a state if what was read here is
/// not exactly what it contains.
class SavedOptions {
 public:
  explicit SavedOptions(std::span<const std::byte> state);

  /// Empty if there is none.
  std::string text(std::string_view name) const;
  std::optional<std::uint64_t> whole(std::string_view name) const;
  std::optional<double> real(std::string_view name) const;

 private:
  std::span<const std::byte> beginning_;
};

/// The hash of the stream that saved the state. Throws ValueError if it needs a secret and there is none.
StreamHash hash_of_state(const SavedOptions& saved, const std::optional<HashKey>& secret);

/// All of a regular file. Throws std::system_error; ValueError for another kind of file.
std::vector<std::byte> read_regular_file(const std::string& path);

/// Names and values of options for a state, and the options with these names and values. A value that cannot be read leaves
/// a default, so that the options differ from those in the state.
StateOptions listed(const ThresholdStream::Options& options);
StateOptions listed(const SumStream::Options& options);
StateOptions listed(const TopStream::Options& options);
void take_saved(ThresholdStream::Options& options, const SavedOptions& saved);
void take_saved(SumStream::Options& options, const SavedOptions& saved);
void take_saved(TopStream::Options& options, const SavedOptions& saved);

template <class Own>
struct StreamTraits;
template <>
struct StreamTraits<ThresholdStream> {
  static constexpr StateKind kind = StateKind::threshold;
  static constexpr const char* name = "ThresholdStream";
};
template <>
struct StreamTraits<SumStream> {
  static constexpr StateKind kind = StateKind::sums;
  static constexpr const char* name = "SumStream";
};
template <>
struct StreamTraits<TopStream> {
  static constexpr StateKind kind = StateKind::top;
  static constexpr const char* name = "TopStream";
};

/// Throws FormatError for damaged bytes and StateMismatch for a state of another class or other options. `subject` names the
/// bytes in errors.
StateReader state_reader(std::vector<std::byte> bytes, StateKind kind, const StateOptions& options,
                         const std::string& subject);

/// The bytes of the state; without the interpreter's lock.
template <class Own>
std::vector<std::byte> state_bytes(const Own& own, const typename Own::Options& options) {
  StateWriter state(StreamTraits<Own>::kind, listed(options));
  own.save(state);
  return state.bytes();
}

/// The stream that saved the state, in memory that the bytes justify, whatever they claim. `observer` is for streams that
/// take one.
template <class Own>
Own stream_of_state(std::vector<std::byte> bytes, const typename Own::Options& options,
                    const std::optional<HashKey>& secret, StreamObserver* observer,
                    const std::string& subject) {
  StateReader state = state_reader(std::move(bytes), StreamTraits<Own>::kind, listed(options), subject);
  Own own = state.made([&] {
    if constexpr (std::is_same_v<Own, TopStream>) return Own(options, state, secret);
    else return Own(options, state, secret, observer);
  });
  state.finish();
  return own;
}

}  // namespace tally::python
