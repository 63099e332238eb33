#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "cli/signals.hpp"
#include "commands/commands.hpp"
#include "files/filter_file.hpp"
#include "files/summary_file.hpp"

namespace tally::cli {

namespace {

struct PatchOptions {
  std::string replica;
  std::vector<std::string> messages;
  std::string key_file;
  std::uint64_t max_memory = std::uint64_t{256} << 20;
  bool json = false;
  bool quiet = false;
};

// A copy in a file, updated by messages.
class ReplicaFile {
 public:
  explicit ReplicaFile(const PatchOptions& options)
      : options_(options),
        file_(options.replica, options.quiet),
        key_(FilterFileOptions{options.replica, options.key_file}.key()) {
    if (!std::filesystem::exists(options.replica)) return;
    const AnyFilter filter = file_.load(key_);
    const FilterShape shape = filter.shape();
    const auto* const dleft = std::get_if<DLeftShape>(&shape.shape);
    if (filter.kind() == FilterKind::counting_bloom || (dleft != nullptr && dleft->spill_capacity != 0)) {
      throw std::invalid_argument(
          fmt::format("'{}' is a {} filter with its own counts, which a patch would discard; give another "
                      "file, which the first full copy creates",
                      options.replica, name_of(filter.kind())));
    }
    table_ = summary_of(filter);
    digest_ = digest_of(*table_);
  }

  void take(std::span<const std::byte> bytes) {
    const SummaryMessage message = read_summary_message(bytes);
    ++num_messages_;
    if (message.kind == SummaryMessageKind::request) return;
    if (message.layout.num_bytes() > options_.max_memory) {
      throw std::invalid_argument(
          fmt::format("the summary of '{}' has {} bytes; must be at most {}; raise --max-memory",
                      message.publisher, message.layout.num_bytes(), options_.max_memory));
    }
    const bool is_same_layout = table_ && table_->layout() == message.layout;
    is_current_ = is_same_layout && digest_ == message.digest;
    if (is_current_ || message.coding == SummaryCoding::none) return;
    if (message.kind == SummaryMessageKind::delta && !is_same_layout) return;
    if (!table_) table_.emplace(message.layout);
    if (!patch(*table_, digest_, message)) return;
    file_.save(filter_of(*table_, hasher(message.layout)));
    is_current_ = true;
    ++num_applied_;
  }

  bool is_current() const { return is_current_; }
  std::uint64_t num_messages() const { return num_messages_; }
  std::uint64_t num_applied() const { return num_applied_; }
  bool exists() const { return table_.has_value(); }

 private:
  KeyHasher hasher(const SummaryLayout& layout) const {
    if (layout.hash_id == HashId::xxh3_128) return layout.seed_or_key_id;
    const KeyHasher own = key_ ? KeyHasher::keyed(*key_) : KeyHasher(0);
    if (own.id() != layout.hash_id || own.seed_or_key_id() != layout.seed_or_key_id) {
      throw std::invalid_argument(
          "the keys of the summary are hashed with a secret; give it with --key-file");
    }
    return own;
  }

  const PatchOptions& options_;
  GuardedFile file_;
  std::optional<HashKey> key_;
  std::optional<SummaryTable> table_;
  std::uint64_t digest_ = 0;
  bool is_current_ = false;
  std::uint64_t num_messages_ = 0;
  std::uint64_t num_applied_ = 0;
};

void take(ReplicaFile& replica, std::span<const std::byte> message, const std::string& path) {
  try {
    replica.take(message);
  } catch (const FormatError& error) {
    throw FormatError(error.reason(), error.offset(),
                      (path == "-" ? "standard input" : path) + " as a summary message");
  }
}

ExitCode run_patch(PatchOptions& options) {
  ReplicaFile replica(options);
  if (options.messages.empty()) options.messages.push_back("-");
  for (const std::string& path : options.messages) {
    MessageReader reader(path);
    // An uncompressed full copy is as long as the summary, a header and a name.
    while (const auto bytes = reader.next(options.max_memory + summary_header_bytes + max_publisher_bytes)) {
      const bool was_current = replica.is_current();
      take(replica, *bytes, path);
      if (was_current && !replica.is_current()) {
        remark(options.quiet,
               "a message continues from another version than that of the copy; waiting for a full copy");
      }
    }
    if (stop_requested()) break;
  }
  if (options.json) {
    print_json({{"num_messages", replica.num_messages()},
                {"num_applied", replica.num_applied()},
                {"is_current", replica.is_current()}});
  }
  if (replica.is_current()) {
    remark(options.quiet, fmt::format("applied {} of {} messages; '{}' has the version of the last one",
                                      replica.num_applied(), replica.num_messages(), options.replica));
    return ExitCode::success;
  }
  if (replica.num_messages() > 0) {
    remark(
        options.quiet,
        fmt::format("'{}' {}: the last message continues from another version; make a full copy with 'tally "
                    "diff NEW' and apply it",
                    options.replica, replica.exists() ? "is not current" : "was not created"));
  }
  return ExitCode::none;
}

}  // namespace

Run declare_patch(CommandLine app) {
  const auto options = std::make_shared<PatchOptions>();
  add_details(app, R"(
      Applies messages of 'tally diff' or 'tally watch', in order, to a copy of another node's summary. The copy is
      a bloom or dleft filter file, which 'tally query' can read. A full copy creates the file. Each message is
      applied when it arrives, and the file is replaced as a whole. A delta that is damaged, or that continues
      from another version than that of the file, is not applied, so the file is always one of the publisher's
      versions.
      )");
  app.set_exit_status({.success = "if the copy has the version of the last message", .none = "if not"});
  add_file(app, "replica", options->replica, "The copy, a bloom or dleft filter file").required();
  app.add_option("messages", options->messages, "Files with messages (default '-': standard input)")
      .type_name("FILE");
  add_key_file(app, options->key_file);
  add_size(app, "--max-memory", options->max_memory, "Maximum size of a summary (default: 256MiB)");
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  return [options] { return run_patch(*options); };
}

}  // namespace tally::cli
