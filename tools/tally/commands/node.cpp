#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "cli/signals.hpp"
#include "commands/commands.hpp"
#include "node/commands.hpp"
#include "node/directory.hpp"
#include "node/redis_address.hpp"
#include "node/summary_node.hpp"
#include "tally/planner.hpp"
#include "tally/serialization.hpp"
#include "text/duration.hpp"

namespace tally::cli {
namespace {

struct NodeOptions {
  SummaryNode::Options node;
  std::string redis = "localhost:6379";
  std::string kind = "counting-bloom";
  std::uint64_t num_keys = 100'000;
  double false_positive_rate = 0.01;
  std::optional<std::uint64_t> num_positions;
  std::optional<std::uint32_t> num_hashes;
  std::string load_file;
  std::optional<std::uint64_t> epoch;
  HasherOptions hasher;
  Nanoseconds linger = 10 * nanoseconds_per_second;
  bool stay = false;
  bool nul_separated = false;
  bool json = false;
  bool quiet = false;
};

constexpr Nanoseconds never = std::numeric_limits<Nanoseconds>::max();

Nanoseconds steady_now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * nanoseconds_per_second + time.tv_nsec;
}

/// poll, but it returns at once if a signal asks to stop before or meanwhile: none can come between the look
/// at stop_requested and the wait. `heeds_stop` is false once that was heeded.
void poll_or_stop(std::vector<pollfd>& polled, Nanoseconds wait, bool heeds_stop) {
  sigset_t stops;
  sigset_t before;
  sigemptyset(&stops);
  for (const int signal : stop_signals) sigaddset(&stops, signal);
  sigprocmask(SIG_BLOCK, &stops, &before);
  wait = heeds_stop && stop_requested() ? 0 : std::clamp<Nanoseconds>(wait, 0, 60 * nanoseconds_per_second);
  const timespec time{.tv_sec = wait / nanoseconds_per_second, .tv_nsec = wait % nanoseconds_per_second};
  const int result = ppoll(polled.data(), polled.size(), &time, &before);
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (result >= 0) return;
  if (error != EINTR) throw std::system_error(error, std::generic_category(), "poll");
  for (pollfd& entry : polled) entry.revents = 0;
}

// What a filter file holds; its hash becomes ours.
NodeDirectory load_directory(NodeOptions& options, const SummaryOptions& summary) {
  const AnyFilter file = load(options.load_file, options.hasher.key());
  options.node.terms.hasher = file.hasher();
  return file.visit([&]<class Filter>(const Filter& filter) -> NodeDirectory {
    if constexpr (std::is_same_v<Filter, CountingBloomFilter<>> ||
                  std::is_same_v<Filter, DLeftCountingBloomFilter<>>) {
      return NodeDirectory(filter, summary);
    } else {
      throw std::invalid_argument(fmt::format(
          "--load: '{}' holds a filter of kind {} and scheme {}; it must be counting-bloom or dleft, and of "
          "the default scheme",
          options.load_file, name_of(file.kind()), file.shape().scheme_name()));
    }
  });
}

NodeDirectory make_directory(NodeOptions& options) {
  const SummaryOptions summary{.publisher = options.node.name, .epoch = options.epoch.value_or(0)};
  if (!options.load_file.empty()) return load_directory(options, summary);
  if (options.num_positions.has_value() != options.num_hashes.has_value()) {
    throw std::invalid_argument(
        "--num-positions and --num-hashes make a shape together; give both, or --keys");
  }
  options.node.terms.hasher = options.hasher.hasher();
  const KeyHasher& hasher = options.node.terms.hasher;
  if (options.kind == "dleft") {
    if (options.num_positions) {
      throw std::invalid_argument("--num-positions, --num-hashes: a dleft filter has cells; give --keys");
    }
    DLeftRequest request;
    request.num_keys = options.num_keys;
    request.false_positive_rate = options.false_positive_rate;
    const DLeftShape shape = plan_dleft(request);
    SummaryNode::check(options.node, layout_of(shape, RotationBuckets::file_id, hasher));
    return NodeDirectory(shape, hasher, summary);
  }
  CountingBloomRequest request;
  request.num_keys = options.num_keys;
  request.false_positive_rate = options.false_positive_rate;
  const CountingBloomShape shape =
      options.num_positions
          ? CountingBloomShape{.num_counters = *options.num_positions, .num_hashes = *options.num_hashes}
          : plan_counting_bloom(request);
  SummaryNode::check(options.node, layout_of(shape, DefaultScheme::file_id, hasher));
  return NodeDirectory(shape, hasher, summary);
}

ExitCode run_node(NodeOptions& options) {
  const RedisAddress address = parse_redis_address(options.redis);
  NodeDirectory directory = make_directory(options);
  SummaryNode node(options.node, std::move(directory), address, steady_now());
  NodeCommands commands(
      {.nul_separated = options.nul_separated, .json = options.json, .quiet = options.quiet}, node);
  std::vector<pollfd> polled;
  bool is_ending = false;
  Nanoseconds end_by = never;
  while (!is_ending || !(node.is_published() || steady_now() >= end_by)) {
    polled.assign(1, {commands.wants_input() && !is_ending ? STDIN_FILENO : -1, POLLIN, 0});
    node.add_polled(polled);
    poll_or_stop(polled, std::min({node.deadline(), commands.deadline(), end_by}) - steady_now(), !is_ending);
    const Nanoseconds now = steady_now();
    node.receive(polled, now);
    commands.step(polled[0].revents != 0, now);
    if (!is_ending && (stop_requested() || (commands.has_ended() && !options.stay))) {
      is_ending = true;
      end_by = now + options.linger;
      node.publish_now();
    }
    node.send(now);
  }
  commands.finish();
  if (!node.is_published()) {
    const PendingChanges pending = node.directory().pending();
    throw std::runtime_error(
        fmt::format("the end, and Redis at {} has not taken what changed last: {} changes", address.shown(),
                    pending.num_inserted + pending.num_removed));
  }
  return commands.num_refused() == 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace

Run declare_node(CommandLine app) {
  const auto options = std::make_shared<NodeOptions>();
  add_details(
      app,
      "Keeps a summary of this node's keys published over a Redis server, follows those of all nodes of the "
      "group, and answers who may have a key. Lines of standard input are commands:\n\n"
      "+KEY: the key came here.\n"
      "-KEY: it left; one that is certainly not here is refused.\n"
      "?KEY: who may have it? Prints the key, a tab, and the names of the nodes with blanks between them.\n"
      "!status: prints a line on this node and one on every other.\n"
      "!publish: publish what changed, without waiting for --interval or --share.\n"
      "!wait [PEERS [TIME]]: read on when so many peers (1) are known up to their newest version and our own "
      "is published, or after the time (10s).\n\n"
      "Messages that were lost are found out and asked for again, and a broken connection is made again, for "
      "ever. Until then answers are stale: what they say was so at the age that !status shows. A node that "
      "is "
      "started again has to be given its keys again, by --load or its input. Exit status: 0, 1 if a change "
      "or a line was refused, 2 "
      "after an error, or if Redis did not take the last changes before the end.");
  SummaryNode::Options& node = options->node;
  node.terms.max_peers = 1000;
  node.terms.max_total_bytes = std::uint64_t{1} << 30;
  app.add_option("name", node.name, "This node's name: letters, digits, '.', '_' and '-'")
      .type_name("NAME")
      .required();
  app.add_option(
         "--redis", options->redis,
         "The server: redis://[[user]:password@]host[:port] or unix:///path, perhaps from the environment "
         "(TALLY_REDIS), where no password is shown (default: localhost:6379)")
      .type_name("URL")
      .environment("TALLY_REDIS");
  app.add_option("--group", node.group, "Nodes of one group hear each other (default: default)")
      .type_name("NAME");
  const std::string size = "Size";
  add_choice(app, "--kind", options->kind,
             "What counts the keys: counting-bloom sends bits, dleft cells (default: counting-bloom)",
             {"counting-bloom", "dleft"})
      .group(size);
  Option keys = add_count(app, "-n,--keys", options->num_keys,
                          "Keys to plan for, at any one time (default: 100000)", {1, std::uint64_t{1} << 40});
  Option rate = add_rate(app, "-p,--false-positive-rate", options->false_positive_rate,
                         "How often a peer is named that has not the key (default: 1%)");
  Option positions = add_count(app, "--num-positions", options->num_positions, "Bits, exactly");
  Option hashes = add_count(app, "-k,--num-hashes", options->num_hashes, "Positions a key has, exactly");
  for (Option exact : {positions, hashes}) exact.excludes(keys).excludes(rate);
  Option file = add_file(app, "--load", options->load_file,
                         "Begin with the keys, shape and seed of this filter file (counting-bloom or dleft)");
  for (Option option : {app.get_option("--kind"), keys, rate, positions, hashes}) file.excludes(option);
  for (Option option : {keys, rate, positions, hashes, file}) option.group(size);
  const std::string sending = "Sending";
  add_rate(app, "--share", node.share_of_new_keys, "Publish when so much of the keys is new (default: 1%)")
      .group(sending);
  add_duration(
      app, "--interval", node.interval,
      "Publish what changed after this time at the latest, and a full copy only so often (default: 1s)")
      .group(sending);
  add_duration(app, "--heartbeat", node.heartbeat,
               "Longest silence: how soon others find out that they missed something (default: 5s)")
      .group(sending);
  add_duration(app, "--linger", options->linger, "How long to wait for Redis at the end (default: 10s)")
      .group(sending);
  app.add_flag("--stay", options->stay, "After the end of the input go on until SIGINT, SIGTERM or SIGHUP")
      .group(sending);
  add_count(app, "--epoch", options->epoch,
            "A number that grows whenever this node is started (default: the time, in microseconds)")
      .group(sending);
  const std::string following = "Following";
  add_duration(app, "--forget", node.forget, "A peer that is silent for longer is no more (default: 10m)")
      .group(following);
  add_count(app, "--max-peers", node.terms.max_peers, "Others are refused, and that is said (default: 1000)")
      .group(following);
  add_size(
      app, "--max-message", node.max_message_bytes,
      "Longest message, sent or received; Redis has limits, too: client-output-buffer-limit (default: 32MiB)",
      1024)
      .group(following);
  add_size(app, "--max-memory", node.terms.max_total_bytes, "Memory of all peers' summaries (default: 1GiB)",
           4096)
      .group(following);
  add_hasher_options(app, options->hasher);
  file.excludes(app.get_option("--seed"));
  app.add_flag("-z,--null", options->nul_separated, "Commands and answers end in a NUL, not in a newline");
  app.add_flag("--json", options->json, "Answer in JSON, one object a line");
  add_quiet(app, options->quiet);
  return [options] { return run_node(*options); };
}

}  // namespace tally::cli
