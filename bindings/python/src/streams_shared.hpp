#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "guard.hpp"
#include "made.hpp"
#include "python.hpp"
#include "streams_events.hpp"
#include "streams_state.hpp"

namespace tally::python {

using ReachedKeys = std::vector<ReachedKey>;

/// A stream of Python, which threads can share, one call at a time.
template <class Own>
class SharedStream : public ZeroedStorage {
 public:
  using Options = typename Own::Options;
  static constexpr bool has_observer = !std::is_same_v<Own, TopStream>;

  struct Setup {
    Options options = {};
    StreamHash hash = {};
    py::object on_event = {};  ///< may be none
    bool checks = false;       ///< with an ExactCheck
  };

  /// Throws what the constructor of the stream throws.
  explicit SharedStream(Setup setup) : core_(std::make_unique<Core>(std::move(setup))) {
    core_->own.emplace(made(core_->options, &core_->events));
    deliver_events();
  }
  /// The stream that saved the state. Throws what stream_of_state throws.
  SharedStream(Setup setup, std::vector<std::byte> bytes, const std::string& subject)
      : core_(std::make_unique<Core>(std::move(setup))) {
    core_->own.emplace(
        stream_of_state<Own>(std::move(bytes), core_->options, core_->secret, &core_->events, subject));
  }

  /// Returns use(the stream) alone.
  template <class Use>
  NotOfPython auto use(std::size_t num_keys, Use use) const {
    const Held held(core_->guard, Access::write, num_keys);
    require_usable();
    return use(std::as_const(*core_->own));
  }

  /// add(the stream, reports so far) for keys that were hashed by `hasher`; returns the reports, which also reached() has,
  /// even if `add` throws.
  template <class Add>
  std::shared_ptr<const ReachedKeys> change(std::size_t num_keys, const KeyHasher& hasher, Add add) {
    const auto reports = std::make_shared<ReachedKeys>();
    const Held held(core_->guard, Access::write, num_keys);
    require_usable();
    if (hasher != core_->options.hasher)
      throw py::value_error("another thread restored the stream meanwhile; add the keys again");
    core_->reached = reports;
    try {
      add(*core_->own, *reports);
    } catch (const std::invalid_argument&) {
      throw;  // of records that were refused before anything changed
    } catch (...) {
      core_->is_broken = !std::is_same_v<Own, ThresholdStream> || core_->check;
      throw;
    }
    return reports;
  }

  std::shared_ptr<const ReachedKeys> reached() const {
    const Held held(core_->guard, Access::write);
    return core_->reached;
  }

  /// Calls on_event for what happened, without any lock. Events that were not delivered because it raised come first the
  /// next time.
  void deliver_events() const {
    while (core_->on_event) {
      std::optional<StreamEvent> event;
      {
        const Held held(core_->guard, Access::write);
        event = core_->events.pop();
      }
      if (!event) return;
      call_with_event(py::object(core_->on_event), *event);
    }
  }

  /// Replaces the stream, which must be new, by the one that saved the state with the same options; a drawn seed becomes that
  /// of the state. If it throws, nothing has changed.
  void restore(std::vector<std::byte> bytes, const std::string& subject) {
    require_new();
    Options options = core_->options;
    if (core_->has_drawn_seed) options.hasher = hash_of_state(SavedOptions(bytes), {}).hasher;
    std::optional<Own> restored;
    {
      const Unlocked unlocked;
      restored.emplace(
          stream_of_state<Own>(std::move(bytes), options, core_->secret, &core_->events, subject));
    }
    // No batch can begin between this and the end: other threads wait for the interpreter's lock.
    require_new();
    core_->own.emplace(*std::move(restored));
    core_->options = options;
  }

  std::vector<std::byte> state() const {
    if (core_->check)
      throw py::value_error("a stream with exact_check has no state; its exact counts are in no file");
    return use(Held::long_batch, [&](const Own& own) { return state_bytes(own, core_->options); });
  }

  /// Called with the lock of a stream that is used.
  ExactCheck* check() const { return core_->check ? &*core_->check : nullptr; }
  bool has_check() const { return core_->check.has_value(); }
  const Options& options() const { return core_->options; }
  const std::optional<HashKey>& secret() const { return core_->secret; }

  // For the garbage collector, because on_event may refer to the stream.
  int visit(visitproc visit, void* arg) const {
    if (!core_.is_empty()) Py_VISIT(core_->on_event.ptr());
    return 0;
  }
  void forget_objects() noexcept {
    if (!core_.is_empty()) core_->on_event = {};
  }

 private:
  struct Core {
    explicit Core(Setup setup)
        : options(std::move(setup.options)),
          secret(setup.hash.secret),
          has_drawn_seed(setup.hash.is_drawn),
          on_event(std::move(setup.on_event)),
          check(made_check(options, setup.checks)),
          events(static_cast<bool>(on_event), check ? &*check : nullptr) {
      options.hasher = setup.hash.hasher;
    }

    Guard guard;
    Options options;
    std::optional<HashKey> secret;
    bool has_drawn_seed;
    py::object on_event;
    std::optional<ExactCheck> check;
    StreamEvents events;
    std::optional<Own> own;
    std::shared_ptr<const ReachedKeys> reached = std::make_shared<ReachedKeys>();
    bool is_broken = false;
  };

  static std::optional<ExactCheck> made_check(const Options& options, bool checks) {
    if constexpr (std::is_same_v<Own, ThresholdStream>) {
      if (checks) return std::optional<ExactCheck>(std::in_place, options.threshold);
    }
    return std::nullopt;
  }

  static Own made(const Options& options, StreamEvents* events) {
    const Unlocked unlocked;
    if constexpr (has_observer) return Own(options, events);
    else return Own(options);
  }

  void require_usable() const {
    if (core_->is_broken)
      throw py::value_error(
          "memory ran out while keys were added, so the stream is unusable; make a new one, from a state if "
          "one was saved");
  }

  void require_new() const {
    if (core_->guard.has_batches())
      throw py::value_error("another thread uses the stream; restore a new one");
    require_usable();
    if (core_->check) throw py::value_error("a stream with exact_check has no state to restore");
    if (num_added(*core_->own) != 0)
      throw py::value_error("keys were added to the stream already; restore a new one");
  }
  static std::uint64_t num_added(const Own& own) {
    if constexpr (std::is_same_v<Own, ThresholdStream>) return own.statistics().num_keys;
    else return own.num_records() + own.clock().num_late();
  }

  Made<Core> core_;
};

}  // namespace tally::python
