#include <fmt/core.h>
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
#include "node/summary_node.hpp"
#include "shape/shape.hpp"
#include "store/options.hpp"
#include "tally/redis_client/address.hpp"
#include "tally/serialization.hpp"
#include "text/duration.hpp"

namespace tally::cli {
namespace {

struct NodeOptions {
  SummaryNode::Options node;
  std::string redis = "localhost:6379";
  std::string password_file;
  ShapeOptions shape{.kind = std::string(name_of(FilterKind::counting_bloom)),
                     .ways = {.than_one_of_two = ", or --keys", .than_positions = "--keys"}};
  std::string load_file;
  std::optional<std::uint64_t> epoch;
  HasherOptions hasher;
  Nanoseconds linger = 10 * nanoseconds_per_second;
  bool stay = false;
  bool nul_separated = false;
  bool json = false;
  bool quiet = false;
};

constexpr std::uint64_t default_num_keys = 100'000;
constexpr Nanoseconds never = std::numeric_limits<Nanoseconds>::max();

Nanoseconds steady_now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * nanoseconds_per_second + time.tv_nsec;
}

/// poll, but it returns at once if a signal requests a stop before or during the wait. Signals are blocked between the
/// check of stop_requested and the wait, so none is missed. `heeds_stop` is false after a stop was handled.
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

// The directory from a filter file. The node then uses the hash of that file.
NodeDirectory load_directory(NodeOptions& options, const SummaryOptions& summary) {
  const AnyFilter file = load(options.load_file, options.hasher.key());
  options.node.terms.hasher = file.hasher();
  return file.visit([&]<class Filter>(const Filter& filter) -> NodeDirectory {
    if constexpr (std::is_same_v<Filter, CountingBloomFilter<>> ||
                  std::is_same_v<Filter, DLeftCountingBloomFilter<>>) {
      return NodeDirectory(filter, summary);
    } else {
      throw std::invalid_argument(
          fmt::format("--load: '{}' contains a filter of kind {} and scheme {}; the kind must be "
                      "counting-bloom or dleft, and the scheme the default one",
                      options.load_file, name_of(file.kind()), file.shape().scheme_name()));
    }
  });
}

NodeDirectory make_directory(NodeOptions& options) {
  const SummaryOptions summary{.publisher = options.node.name, .epoch = options.epoch.value_or(0)};
  if (!options.load_file.empty()) return load_directory(options, summary);
  options.node.terms.hasher = options.hasher.hasher();
  const KeyHasher& hasher = options.node.terms.hasher;
  const FilterShape shape = shape_of(options.shape, [] { return default_num_keys; }).shape;
  const auto make = [&](const auto& own) {
    SummaryNode::check(options.node, layout_of(own, shape.scheme_id, hasher));
    return NodeDirectory(own, hasher, summary);
  };
  if (const auto* const dleft = std::get_if<DLeftShape>(&shape.shape)) return make(*dleft);
  return make(std::get<CountingBloomShape>(shape.shape));
}

ExitCode run_node(NodeOptions& options) {
  redis_client::Address address = redis_client::parse_address(
      options.redis,
      options.password_file.empty() ? redis_client::Password::required : redis_client::Password::comes_later);
  take_password_file(options.password_file, "--redis", address);
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
    throw std::runtime_error(fmt::format(
        "Redis at {} did not accept the last {} changes before the end; keep the node running longer "
        "with --linger",
        address.shown(), pending.num_inserted + pending.num_removed));
  }
  return commands.num_refused() == 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace

Run declare_node(CommandLine app) {
  const auto options = std::make_shared<NodeOptions>();
  add_details(app, R"(
      Publishes a summary of this node's keys over a Redis server, receives the summaries of all nodes of the group,
      and answers which nodes may have a key. Each line of standard input is a command:

        +KEY: the key arrived at this node.
        -KEY: the key left. Removing a key that is provably absent is refused.
        ?KEY: prints the key, a tab, and the names of the nodes that may have it, separated by spaces.
        !status: prints one line about this node and one about each peer.
        !publish: publishes all changes now, without waiting for --interval or --share.
        !wait [PEERS [TIME]]: waits until PEERS peers (1) are up to date and all changes published, or for TIME (10s).

      The node detects lost messages and requests them again, and it reconnects after a broken connection. Until
      then answers may be out of date; !status shows their age. After a restart, a node must get its keys again,
      from --load or its input.

      Exit status: 0 after success, 1 if a change or a line was refused, 2 after an error, or if Redis did not
      accept the last changes before the end.
      )");
  SummaryNode::Options& node = options->node;
  node.terms.max_peers = 1000;
  node.terms.max_total_bytes = std::uint64_t{1} << 30;
  app.add_option("name", node.name, "Name of this node: letters, digits, '.', '_' and '-'")
      .type_name("NAME")
      .required();
  app.add_option(
         "--redis", options->redis,
         "The server: redis://[[user]:password@]host[:port] or unix:///path; better from the environment "
         "(TALLY_REDIS), where other users do not see the password (default: localhost:6379)")
      .type_name("URL")
      .environment("TALLY_REDIS");
  add_file(app, "--password-file", options->password_file,
           "Password for --redis: the first line of this file");
  app.add_option("--group", node.group, "Group of nodes that share their summaries (default: default)")
      .type_name("NAME");
  const std::string size = "Size";
  add_choice(app, "--kind", options->shape.kind,
             "Structure that counts the keys: counting-bloom sends bits, dleft sends cells (default: "
             "counting-bloom)",
             {std::string(name_of(FilterKind::counting_bloom)), std::string(name_of(FilterKind::dleft))})
      .group(size);
  Option keys =
      add_count(app, "-n,--keys", options->shape.wanted.num_keys,
                "Number of keys to plan for, at any one time (default: 100000)", {1, std::uint64_t{1} << 40});
  Option rate = add_rate(app, "-p,--false-positive-rate", options->shape.wanted.false_positive_rate,
                         "Largest false positive rate: how often an answer names a peer that does not have "
                         "the key (default: 1%)");
  Option positions = add_count(app, "--num-positions", options->shape.num_positions, "Exact number of bits");
  Option hashes =
      add_count(app, "-k,--num-hashes", options->shape.num_hashes, "Exact number of positions per key");
  for (Option exact : {positions, hashes}) exact.excludes(keys).excludes(rate);
  Option file = add_file(app, "--load", options->load_file,
                         "Start with the keys, shape and seed of this filter file (counting-bloom or dleft)");
  for (Option option : {app.get_option("--kind"), keys, rate, positions, hashes}) file.excludes(option);
  for (Option option : {keys, rate, positions, hashes, file}) option.group(size);
  const std::string sending = "Sending";
  add_rate(app, "--share", node.share_of_new_keys, "Publish when this share of the keys is new (default: 1%)")
      .group(sending);
  add_duration(app, "--interval", node.interval,
               "Longest time between a change and its publication, and shortest time between two full copies "
               "(default: 1s)")
      .group(sending);
  add_duration(app, "--heartbeat", node.heartbeat,
               "Longest time without a message, after which peers notice that they missed one (default: 5s)")
      .group(sending);
  add_duration(app, "--linger", options->linger, "Longest time to wait for Redis at the end (default: 10s)")
      .group(sending);
  app.add_flag("--stay", options->stay,
               "Keep running after the end of the input, until SIGINT, SIGTERM or SIGHUP")
      .group(sending);
  add_count(app, "--epoch", options->epoch,
            "A number that grows with every start of this node (default: the time in microseconds)")
      .group(sending);
  const std::string following = "Receiving";
  add_duration(app, "--forget", node.forget, "Remove a peer after this time without a message (default: 10m)")
      .group(following);
  add_count(app, "--max-peers", node.terms.max_peers,
            "Largest number of peers; further ones are refused with a warning (default: 1000)")
      .group(following);
  add_size(app, "--max-message", node.max_message_bytes,
           "Longest message to send or receive; Redis also has a limit, client-output-buffer-limit (default: "
           "32MiB)",
           1024)
      .group(following);
  add_size(app, "--max-memory", node.terms.max_total_bytes,
           "Memory for the summaries of all peers (default: 1GiB)", 4096)
      .group(following);
  add_hasher_options(app, options->hasher);
  file.excludes(app.get_option("--seed"));
  app.add_flag("-z,--null", options->nul_separated,
               "Commands and answers end with a NUL byte, not with a newline");
  app.add_flag("--json", options->json, "Print answers as JSON, one object per line");
  add_quiet(app, options->quiet);
  return [options] { return run_node(*options); };
}

}  // namespace tally::cli
