#include <fmt/core.h>

#include <array>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "cli/options.hpp"
#include "cli/signals.hpp"
#include "commands/commands.hpp"
#include "commands/over_store.hpp"
#include "commands/uniq_explain.hpp"
#include "input/input_is_output.hpp"
#include "input/key_loop.hpp"
#include "input/live_status.hpp"
#include "input/printed_key.hpp"
#include "input/read_ahead.hpp"
#include "shape/memory_warning.hpp"
#include "shape/shape.hpp"
#include "tally/filters/bloom.hpp"
#include "tally/sets/hash_set.hpp"
#include "tally/sets/recent_keys.hpp"
#include "text/key_json.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

struct UniqOptions {
  InputOptions input;
  HasherOptions hasher;
  bool approximate = false;
  bool may_repeat = false;
  std::optional<std::uint64_t> num_keys;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> false_positive_rate;
  bool json = false;
  bool quiet = false;
  bool line_buffered = false;
  std::optional<Nanoseconds> every;
  bool explain = false;
};

constexpr double default_false_positive_rate = 0.001;
constexpr std::uint64_t default_recent_bytes = std::uint64_t{64} << 20;

// Three ways to decide whether a key is new. Each has keep_unknown, is_new, num_bytes, and the guarantee as a text.
// keep_unknown writes the indices of the keys that may be new, and returns their number; is_new is asked about these, soon and
// in their order.

/// Keeps all.
template <class Prefetch>
std::size_t keep_all(std::span<const Hash128> digests, std::span<std::uint32_t> indices, Prefetch prefetch) {
  for (std::size_t i = 0; i < digests.size(); ++i) {
    prefetch(digests[i]);
    indices[i] = static_cast<std::uint32_t>(i);
  }
  return digests.size();
}

class ExactMemory {
 public:
  ExactMemory(const UniqOptions& options, const KeyHasher& hasher)
      : seen_(options.memory_bytes.value_or(std::numeric_limits<std::uint64_t>::max())),
        exception_(unless_chosen(hasher)) {}

  std::size_t keep_unknown(std::span<const Hash128> digests, std::span<std::uint32_t> indices) const {
    return seen_.find_absent(digests, indices);
  }
  bool is_new(Hash128 digest) {
    const HashSet::Outcome outcome = seen_.insert(digest);
    if (outcome == HashSet::Outcome::full) {
      throw std::runtime_error(fmt::format(
          "the memory is full at {} distinct keys; give more --memory, or use --may-repeat (never "
          "drops a key) or --approximate (may drop some)",
          seen_.size()));
    }
    return outcome == HashSet::Outcome::inserted;
  }
  std::uint64_t num_bytes() const { return seen_.num_bytes(); }
  std::string promise() const {
    return fmt::format("exact, except with probability 2^-96 for any two keys{}", exception_);
  }
  double error_bound() const { return 0; }

 private:
  HashSet seen_;
  std::string_view exception_;
};

Planned planned(const UniqOptions& options) {
  if (!options.num_keys && !options.memory_bytes) {
    throw std::invalid_argument("--approximate needs a size; give --keys or --memory");
  }
  ShapeOptions wanted;
  wanted.wanted = {.num_keys = options.num_keys,
                   .false_positive_rate = options.false_positive_rate,
                   .memory_bytes = options.memory_bytes};
  wanted.default_rate = default_false_positive_rate;
  Planned plan = shape_of(wanted);
  warn_of_little_memory(wanted, plan.shape);
  return plan;
}

class ApproximateMemory {
 public:
  ApproximateMemory(const UniqOptions& options, const KeyHasher& hasher)
      : seen_(std::get<BloomShape>(planned(options).shape.shape), hasher),
        exception_(unless_chosen(hasher)) {}

  std::size_t keep_unknown(std::span<const Hash128> digests, std::span<std::uint32_t> indices) const {
    return keep_all(digests, indices, [&](Hash128 digest) { seen_.prefetch(digest); });
  }
  bool is_new(Hash128 digest) { return !seen_.test_and_insert(digest); }
  std::uint64_t num_bytes() const { return tally::num_bytes(seen_.shape()); }
  // Calculated from the bits that are set: the number of printed keys is too low if many were dropped.
  double error_bound() const { return seen_.statistics().estimated_false_positive_rate; }
  std::string promise() const {
    return fmt::format("a new key is dropped with probability at most {}{}", human_rate(error_bound()),
                       exception_);
  }

 private:
  BloomFilter<> seen_;
  std::string_view exception_;
};

class ForgetfulMemory {
 public:
  ForgetfulMemory(const UniqOptions& options, const KeyHasher& hasher)
      : seen_(options.memory_bytes.value_or(default_recent_bytes)), exception_(unless_chosen(hasher)) {}

  std::size_t keep_unknown(std::span<const Hash128> digests, std::span<std::uint32_t> indices) const {
    return keep_all(digests, indices, [&](Hash128 digest) { seen_.prefetch(digest); });
  }
  bool is_new(Hash128 digest) { return seen_.insert(digest); }
  std::uint64_t num_bytes() const { return seen_.num_bytes(); }
  double error_bound() const { return 0; }
  std::string promise() const {
    return seen_.num_forgotten() == 0
               ? fmt::format("nothing was forgotten: no key is repeated or dropped{}", exception_)
               : fmt::format("no key is dropped{}; {} were forgotten and may be repeated", exception_,
                             human_count(static_cast<double>(seen_.num_forgotten())));
  }

 private:
  RecentKeys seen_;
  std::string_view exception_;
};

ExitCode explain(const UniqOptions& options) {
  const std::string_view exception = unless_chosen(options.hasher);
  if (options.approximate) return explain_approximate_uniq(planned(options), exception);
  if (options.may_repeat)
    return explain_forgetful_uniq(options.memory_bytes.value_or(default_recent_bytes), exception);
  return explain_exact_uniq(options.memory_bytes, exception);
}

/// The memory that one thread asks about keys while another may print how large it is.
template <class Memory>
class SharedMemory {
 public:
  SharedMemory(const UniqOptions& options, const KeyHasher& hasher) : memory_(options, hasher) {}

  /// Writes the indices of the new keys, and returns their number. A failure after the first of them is thrown by the
  /// next call, so that these are printed.
  std::size_t find_new(std::span<const Hash128> digests, std::span<std::uint32_t> indices) {
    throw_failure();
    const std::lock_guard alone(mutex_);
    const std::size_t num_unknown = memory_.keep_unknown(digests, indices);
    std::size_t num_new = 0;
    try {
      for (std::size_t i = 0; i < num_unknown; ++i)
        if (memory_.is_new(digests[indices[i]])) indices[num_new++] = indices[i];
    } catch (...) {
      if (num_new == 0) throw;
      failure_ = std::current_exception();
    }
    return num_new;
  }
  /// Throws what find_new has not thrown yet.
  void throw_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Calls use(memory) while no thread asks about keys.
  template <class Use>
  auto with(Use use) {
    const std::lock_guard alone(mutex_);
    return use(std::as_const(memory_));
  }

 private:
  std::mutex mutex_;
  Memory memory_;
  std::exception_ptr failure_;
};

/// Prints new keys, in the format of the options.
class NewKeys {
 public:
  NewKeys(const UniqOptions& options, Output& output)
      : output_(output), printed_(options.input, options.json), is_json_(options.json) {}

  void print(std::string_view text) {
    ++num_printed_;
    if (is_json_) {
      output_.write_record(json_line(printed_.json(text)));
    } else {
      output_.write_key(text);
    }
  }

  std::uint64_t num_printed() const { return num_printed_; }
  InputOptions follow(const InputOptions& input) { return printed_.follow(input, output_); }

 private:
  Output& output_;
  PrintedKey printed_;
  bool is_json_;
  std::uint64_t num_printed_ = 0;
};

template <class Memory>
ExitCode run_uniq(const UniqOptions& options) {
  const KeyHasher hasher = options.hasher.hasher();
  SharedMemory<Memory> memory(options, hasher);
  Output output({.nul_separated = options.input.nul_separated && !options.json,
                 .line_buffered = options.line_buffered});
  KeyTotals totals;
  NewKeys keys(options, output);
  const auto summary = [&] {
    Json json{{"num_lines", totals.num_keys},
              {"num_printed", keys.num_printed()},
              {"num_skipped_lines", totals.num_skipped}};
    memory.with([&](const Memory& now) {
      json["dropped_with_probability_at_most"] = now.error_bound();
      json["memory_bytes"] = now.num_bytes();
      json["promise"] = now.promise();
    });
    json["interrupted"] = stop_requested();
    json.update(hash_json(hasher));
    return json;
  };
  const auto words = [&] {
    return memory.with([&](const Memory& now) {
      return fmt::format("{}{} lines, {} printed; {}; {}; {}", stop_requested() ? "interrupted after " : "",
                         totals.num_keys, keys.num_printed(), now.promise(),
                         human_bytes(static_cast<double>(now.num_bytes())), hash_text(hasher));
    });
  };
  const LiveStatus status({words, summary}, options.every, options.json ? &output : nullptr);
  for_selected_texts(
      keys.follow(options.input), hasher, options.quiet, totals,
      [&](std::span<const Hash128> digests, auto indices) { return memory.find_new(digests, indices); },
      [&](Texts texts, std::uint64_t) {
        for (const std::string_view text : texts) keys.print(text);
      });
  memory.throw_failure();
  if (options.json) output.write_record(json_line(Json{{"summary", summary()}}));
  output.finish();
  remark(options.quiet, words());
  return keys.num_printed() > 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace

Run declare_uniq(CommandLine app) {
  auto options = std::make_shared<UniqOptions>();
  auto store = std::make_shared<StoreOptions>();
  app.set_exit_status({.success = "if a key was printed", .none = "if none was"});
  add_input_options(app, options->input);
  add_prints_lines(app, options->input);
  add_follow(app, options->input);
  add_every(app, options->every);
  Option approximate = app.add_flag(
      "-a,--approximate", options->approximate,
      "Use a Bloom filter instead of all digests: may drop a key, with the probability printed at the "
      "end");
  app.add_flag("-r,--may-repeat", options->may_repeat,
               "Use bounded memory (--memory, default: 64MiB): never drops a key, may print a key again")
      .excludes(approximate);
  add_count(app, "-n,--keys", options->num_keys, "With --approximate: number of distinct keys to plan for",
            {1, std::uint64_t{1} << 56});
  add_size(app, "-m,--memory", options->memory_bytes,
           "Memory for the keys seen so far, which is never exceeded", least_memory_of_digests);
  add_rate(app, "-p,--false-positive-rate", options->false_positive_rate,
           "With --approximate: largest probability that a new key is dropped (default: 0.1%)");
  add_stream_hasher_options(app, options->hasher);
  add_threads(app, options->input, "-t,--threads", "looks for new keys", "the output", Answers::at_once,
              "--follow");
  add_json(app, options->json);
  add_explain(app, options->explain);
  add_line_buffered(app, options->line_buffered);
  add_quiet(app, options->quiet);
  add_store(app, *store, StoreUse::write_or_make);
  add_store_state(app, *store);
  return [app, options, store] {
    refuse_followed_state(options->input, store->state_path, store->is_given());
    if (store->is_given()) {
      refuse_with_store(app, {"--approximate", "--may-repeat", "--false-positive-rate", "--key-file",
                              "--keyed", "--skip-bad", "--every", "--explain", "--threads"});
      refuse_input_as_output(options->input.files, store->state_path, "--state");
      return run_over_store({.input = options->input,
                             .hasher = options->hasher,
                             .store = *store,
                             .num_keys = options->num_keys,
                             .memory_bytes = options->memory_bytes,
                             .json = options->json,
                             .quiet = options->quiet,
                             .line_buffered = options->line_buffered});
    }
    refuse_without_store(app, {"--password-file", "--patience", "--wait", "--shards", "--state"});
    if (options->approximate && options->num_keys && options->memory_bytes && options->false_positive_rate) {
      throw std::invalid_argument(
          "--keys, --memory and --false-positive-rate are all given; leave one of them out");
    }
    if ((options->false_positive_rate || options->num_keys) && !options->approximate) {
      throw std::invalid_argument(
          "--keys and --false-positive-rate are only for --approximate; give it, or leave them out");
    }
    if (options->explain) return explain(*options);
    options->hasher.draw();
    if (options->approximate) return run_uniq<ApproximateMemory>(*options);
    if (options->may_repeat) return run_uniq<ForgetfulMemory>(*options);
    return run_uniq<ExactMemory>(*options);
  };
}

}  // namespace tally::cli
