#include "commands/uniq.hpp"

#include <fmt/core.h>

#include <array>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "cli/signals.hpp"
#include "commands/commands.hpp"
#include "commands/over_store.hpp"
#include "commands/uniq_explain.hpp"
#include "commands/uniq_memory.hpp"
#include "input/input_is_output.hpp"
#include "input/key_loop.hpp"
#include "input/live_status.hpp"
#include "input/printed_key.hpp"
#include "input/read_ahead.hpp"
#include "text/key_json.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

ExitCode explain(const UniqOptions& options) {
  const std::string_view exception = unless_chosen(options.hasher);
  if (options.approximate) return explain_approximate_uniq(plan_uniq(options), exception);
  if (options.may_repeat) return explain_forgetful_uniq(options.recent_bytes(), exception);
  return explain_exact_uniq(options.memory_bytes, exception);
}

/// The memory that one or two threads ask about keys while another may print how large it is.
class SharedMemory {
 public:
  SharedMemory(const UniqOptions& options, const KeyHasher& hasher)
      : memory_(UniqMemory::of(options, hasher)) {}

  /// Decides about all keys, or about half of them and then about the others.
  DigestSelection selection() {
    DigestSelection selection{.whole = of(Digests::all)};
    if (memory_->has_halves()) {
      selection.first = of(Digests::lower_half);
      selection.rest = of(Digests::upper_half);
    }
    return selection;
  }
  /// Throws what was to be thrown when the keys before were printed, if all are.
  void throw_failures() const {
    for (const Half& half : halves_) half.throw_failure();
  }

  /// Calls use(memory) while no thread asks about keys.
  template <class Use>
  auto with(Use use) {
    const std::scoped_lock alone(halves_[0].mutex, halves_[1].mutex);
    return use(std::as_const(*memory_));
  }

 private:
  struct Half {
    std::mutex mutex;
    std::exception_ptr failure;  // of the last call

    void throw_failure() const {
      if (failure) std::rethrow_exception(failure);
    }
  };

  /// Writes indices as UniqMemory does. A failure is thrown by the next call if there are keys before it, which are printed.
  SelectDigests of(Digests which) {
    return [this, which, &half = halves_[which == Digests::upper_half]](std::span<const Hash128> digests,
                                                                        std::span<std::uint32_t> indices) {
      half.throw_failure();
      const std::lock_guard alone(half.mutex);
      const UniqMemory::Kept kept = memory_->drop_known(which, digests, indices);
      half.failure = kept.failure;
      if (kept.num_kept == 0) half.throw_failure();
      return kept.num_kept;
    };
  }

  std::array<Half, 2> halves_;
  std::unique_ptr<UniqMemory> memory_;
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

ExitCode run_uniq(const UniqOptions& options) {
  const KeyHasher hasher = options.hasher.hasher();
  SharedMemory memory(options, hasher);
  Output output({.nul_separated = options.input.nul_separated && !options.json,
                 .line_buffered = options.line_buffered});
  KeyTotals totals;
  NewKeys keys(options, output);
  const auto summary = [&] {
    Json json{{"num_lines", totals.num_keys},
              {"num_printed", keys.num_printed()},
              {"num_skipped_lines", totals.num_skipped}};
    memory.with([&](const UniqMemory& now) {
      json["dropped_with_probability_at_most"] = now.error_bound();
      json["memory_bytes"] = now.num_bytes();
      json["promise"] = now.promise();
    });
    json["interrupted"] = stop_requested();
    json.update(hash_json(hasher));
    return json;
  };
  const auto words = [&] {
    return memory.with([&](const UniqMemory& now) {
      return fmt::format("{}{} lines, {} printed; {}; {}; {}", stop_requested() ? "interrupted after " : "",
                         totals.num_keys, keys.num_printed(), now.promise(),
                         human_bytes(static_cast<double>(now.num_bytes())), hash_text(hasher));
    });
  };
  const LiveStatus status({words, summary}, options.every, options.json ? &output : nullptr);
  try {
    for_selected_texts(keys.follow(options.input), hasher, options.quiet, totals, memory.selection(),
                       [&](Texts texts, std::uint64_t) {
                         for (const std::string_view text : texts) keys.print(text);
                       });
    memory.throw_failures();
  } catch (const MemoryFull&) {
    throw std::runtime_error(
        fmt::format("the memory is full at {} distinct keys; give more --memory, or use --may-repeat (never "
                    "drops a key) or --approximate (may drop some)",
                    keys.num_printed()));
  }
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
  add_threads(app, options->input, "-t,--threads", "the first two also look for new keys", "the output",
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
    return run_uniq(*options);
  };
}

}  // namespace tally::cli
