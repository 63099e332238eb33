#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "cli/secret_file.hpp"
#include "cli/signals.hpp"
#include "commands/commands.hpp"
#include "node/api.hpp"
#include "node/commands.hpp"
#include "node/directory.hpp"
#include "node/directory_file.hpp"
#include "node/service_manager.hpp"
#include "node/summary_node.hpp"
#include "shape/shape.hpp"
#include "store/options.hpp"
#include "tally/any_filter/summary.hpp"
#include "tally/redis_client/servers.hpp"
#include "tally/serialization.hpp"
#include "text/duration.hpp"

namespace tally::cli {
namespace {

struct NodeCommandOptions {
  NodeOptions node;
  std::string redis = "localhost:6379";
  std::string publish_redis;
  std::string password_file;
  std::string sentinel_password_file;
  ShapeOptions shape{.kind = std::string(name_of(FilterKind::counting_bloom)),
                     .ways = {.than_one_of_two = ", or --keys", .than_positions = "--keys"}};
  std::string load_file;
  std::string save_file;
  Nanoseconds save_interval = 60 * nanoseconds_per_second;
  std::optional<std::uint64_t> epoch;
  HasherOptions hasher;
  ApiOptions api;
  Nanoseconds linger = 10 * nanoseconds_per_second;
  bool stay = false;
  bool nul_separated = false;
  KeyType key_type = KeyType::text;
  bool json = false;
  bool quiet = false;
  bool no_input = false;
  bool checks_only = false;
  std::string log_form = "text";
  std::string log_level = "info";
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
  wait = (heeds_stop && stop_requested()) || reload_requested()
             ? 0
             : std::clamp<Nanoseconds>(wait, 0, 60 * nanoseconds_per_second);
  const timespec time{.tv_sec = wait / nanoseconds_per_second, .tv_nsec = wait % nanoseconds_per_second};
  const int result = ppoll(polled.data(), polled.size(), &time, &before);
  const int error = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (result >= 0) return;
  if (error != EINTR) throw std::system_error(error, std::generic_category(), "poll");
  for (pollfd& entry : polled) entry.revents = 0;
}

// The file to start with; empty if there is none.
std::pair<std::string, std::string> flag_and_path_to_load(const NodeCommandOptions& options) {
  if (!options.load_file.empty()) return {"--load", options.load_file};
  if (options.save_file.empty() || !std::filesystem::exists(options.save_file)) return {};
  remark(options.quiet, fmt::format("continuing from '{}', with its size, kind and hash", options.save_file));
  return {"--save", options.save_file};
}

// The node then uses the hash of the file.
NodeDirectory make_directory(NodeCommandOptions& options, const std::optional<HashKey>& secret) {
  if (secret) options.node.terms.key.emplace(*secret, options.node.group);
  const SummaryOptions summary{
      .publisher = options.node.name, .epoch = options.epoch.value_or(0), .key = options.node.terms.key};
  if (const auto [flag, path] = flag_and_path_to_load(options); !path.empty()) {
    const AnyFilter file = load(path, secret);
    options.node.terms.hasher = file.hasher();
    return directory_of(file, flag, path, summary);
  }
  options.node.terms.hasher = options.hasher.hasher(secret);
  const KeyHasher& hasher = options.node.terms.hasher;
  const FilterShape shape = shape_of(options.shape, [] { return default_num_keys; }).shape;
  const auto make = [&](const auto& own) {
    SummaryNode::check(options.node, layout_of(own, shape.scheme_id, hasher));
    return NodeDirectory(own, hasher, summary);
  };
  if (const auto* const dleft = std::get_if<DLeftShape>(&shape.shape)) return make(*dleft);
  return make(std::get<CountingBloomShape>(shape.shape));
}

// A file that cannot be used leaves the directory as it is.
void reload(SummaryNode& node, const NodeCommandOptions& options, const std::optional<HashKey>& secret) {
  try {
    const AnyFilter file = load(options.load_file, secret);
    require_same_hasher("--load", node.hasher(), file.hasher());
    if (const auto layout = summary_layout_of(file)) SummaryNode::check(options.node, *layout);
    replace_contents(node.directory(), file, "--load", options.load_file);
    remark(options.quiet, fmt::format("reloaded '{}'", options.load_file));
  } catch (const std::exception& error) {
    warn(fmt::format("not reloaded; the directory stays as it is: {}", error.what()));
  }
}

std::uint32_t socket_mode_of(std::string_view text) {
  std::uint32_t mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc() || end != text.data() + text.size() || mode > 0777 || (mode & 0600) != 0600)
    throw std::invalid_argument(
        fmt::format("'{}' must be 600 to 777 in octal digits, with 6 or 7 for the owner", text));
  return mode;
}

std::string error_of_saving(DirectoryFile& file, const NodeDirectory& directory) {
  try {
    file.save_now(directory);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// The servers that `flag` gives, with the passwords of the files.
redis_client::Servers servers_of(const NodeCommandOptions& options, const char* flag,
                                 const std::string& text) {
  using redis_client::Password;
  redis_client::Servers servers;
  try {
    servers = redis_client::parse_servers(
        text, options.password_file.empty() ? Password::required : Password::comes_later);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", flag, error.what()));
  }
  for (redis_client::Address* server : servers.logins()) {
    take_password_file(options.password_file, flag, *server);
  }
  if (!servers.has_sentinels() || options.sentinel_password_file.empty()) return servers;
  const std::string password = secret_in("--sentinel-password-file", options.sentinel_password_file);
  for (redis_client::Address& sentinel : servers.list) sentinel.password = password;
  return servers;
}

std::string status_text(const SummaryNode& node) {
  return fmt::format("{}, {} peers, {} keys",
                     node.bus().is_up() ? "connected" : "not connected to the Redis server",
                     node.peers().copies().num_peers(), node.directory().pending().num_keys);
}

// Opens no socket and locks no file, so that it can be asked beside a node that runs with the same options.
ExitCode check_only(NodeCommandOptions& options, const std::optional<HashKey>& secret) {
  (void)options.api.http_options();
  SummaryNode::check(options.node, make_directory(options, secret).layout());
  print("the configuration is valid\n");
  return ExitCode::success;
}

ExitCode run_node(NodeCommandOptions& options) {
  set_log_style({.least = options.log_level == "info"      ? LogStyle::Level::info
                          : options.log_level == "warning" ? LogStyle::Level::warning
                                                           : LogStyle::Level::error,
                 .json = options.log_form == "json"});
  if (options.no_input) options.stay = true;
  redis_client::Servers servers = servers_of(options, "--redis", options.redis);
  std::optional<redis_client::Servers> publish_servers;
  if (!options.publish_redis.empty()) {
    publish_servers = servers_of(options, "--publish-redis", options.publish_redis);
  }
  if (!options.sentinel_password_file.empty() && !servers.has_sentinels() &&
      !(publish_servers && publish_servers->has_sentinels())) {
    throw std::invalid_argument(
        "--sentinel-password-file is only for sentinel://; give that, or leave the file out");
  }
  const std::optional<HashKey> secret = options.hasher.key();
  options.node.terms.takes_unsigned = options.node.with_version_1;
  if (options.checks_only) return check_only(options, secret);
  std::optional<DirectoryFile> saved;
  if (!options.save_file.empty()) saved.emplace(options.save_file, options.save_interval, steady_now());
  NodeDirectory directory = make_directory(options, secret);
  if (!secret) {
    remark(options.quiet,
           "without --key-file, anybody who may publish on this server can speak for this node");
  }
  options.api.lines.json = options.json;
  options.api.lines.key_type = options.key_type;
  options.api.quiet = options.quiet;
  if (!options.load_file.empty()) install_reload_handler();
  SummaryNode node(options.node, std::move(directory), std::move(servers), std::move(publish_servers),
                   steady_now());
  NodeCommands commands(
      {.lines = {.nul_separated = options.nul_separated, .json = options.json, .key_type = options.key_type},
       .quiet = options.quiet,
       .stays = options.stay},
      node);
  Api api(options.api, options.node.group, node);
  ServiceManager service;
  service.say("READY=1");
  std::vector<pollfd> polled;
  bool is_ending = false;
  Nanoseconds end_by = never;
  std::string save_error;
  while (!is_ending || !(node.own().is_published() || steady_now() >= end_by)) {
    const bool reads_input = !options.no_input && commands.wants_input() && !is_ending;
    polled.assign(1, {reads_input ? STDIN_FILENO : -1, POLLIN, 0});
    node.add_polled(polled);
    api.add_polled(polled, steady_now());
    // A directory that is still being read is not saved over the last one.
    const bool saves = saved && node.own().is_announced();
    const Nanoseconds save_at = saves ? saved->deadline() : never;
    poll_or_stop(polled,
                 std::min({node.deadline(), commands.deadline(), api.deadline(), service.deadline(), end_by,
                           save_at}) -
                     steady_now(),
                 !is_ending);
    const Nanoseconds now = steady_now();
    if (take_reload_request()) reload(node, options, secret);
    node.receive(polled, now);
    commands.step(polled[0].revents != 0, now);
    api.step(polled, now);
    service.keep_alive(now);
    if (service.is_there()) service.show(status_text(node));
    if (saves) saved->save_if_due(node.directory(), now);
    if (!is_ending && (stop_requested() || (commands.has_ended() && !options.stay))) {
      is_ending = true;
      service.say("STOPPING=1");
      end_by = now + options.linger;
      node.own().publish_now();
      // What cannot be saved is published all the same.
      if (saved && (saves || commands.has_ended())) save_error = error_of_saving(*saved, node.directory());
    }
    node.send(now);
  }
  commands.finish();
  if (!save_error.empty()) throw std::runtime_error("--save: " + save_error);
  if (node.own().has_yielded()) {
    throw std::runtime_error(fmt::format(
        "another node is named '{}': the changes since it started were not published", node.name()));
  }
  if (node.own().owes_copy() && node.bus().is_up()) {
    throw std::runtime_error(fmt::format(
        "Redis at {} did not take the full copy of the last version before the end; keep the node "
        "running longer with --linger",
        node.bus().servers().shown()));
  }
  if (!node.own().is_published()) {
    const PendingChanges pending = node.directory().pending();
    throw std::runtime_error(fmt::format(
        "Redis at {} did not accept the last {} changes before the end; keep the node running longer "
        "with --linger",
        node.bus().servers().shown(), pending.num_inserted + pending.num_removed));
  }
  return commands.num_refused() == 0 ? ExitCode::success : ExitCode::none;
}

}  // namespace

Run declare_node(CommandLine app) {
  const auto options = std::make_shared<NodeCommandOptions>();
  add_details(app, R"(
      Publishes a summary of this node's keys over a Redis server, receives the summaries of all nodes of the group,
      and answers which nodes may have a key. Each line of standard input is a command:

        +KEY: the key arrived at this node.
        -KEY: the key left. Removing a key that is provably absent is refused.
        ?KEY: prints the key, a tab, and the names of the nodes that may have it, separated by spaces.
        !status: prints one line about this node and one about each peer.
        !publish: publishes all changes now, without waiting for --interval or --share.
        !loaded: with --publish-when-loaded, all keys that the node had before it was started have been given.
        !wait [PEERS [TIME]]: waits until PEERS peers (1) are up to date and all changes published, or for TIME (10s).

      The node detects lost messages and requests them again, and it reconnects after a broken connection. Until
      then answers may be out of date; !status shows their age. After a restart, a node must get its keys again,
      from --save or --load or its input.

      Anybody who may publish on the server can speak for every node, unless all nodes of the group have the same
      --key-file: then messages are signed, and others are refused.
      )");
  app.set_exit_status({.success = "after success",
                       .none = "if a change or a line was refused",
                       .error = "after an error, or if Redis did not accept the last changes before the end, "
                                "or if another node has taken the name"});
  NodeOptions& node = options->node;
  node.terms.max_peers = 1000;
  node.terms.max_total_bytes = std::uint64_t{1} << 30;
  app.add_option("name", node.name, "Name of this node: letters, digits, '.', '_' and '-'")
      .type_name("NAME")
      .required();
  app.add_option(
         "--redis", options->redis,
         "The server: redis://[[user]:password@]host[:port][,host[:port]...], of which the first is used "
         "that "
         "answers and is no replica; sentinel://[[user]:password@]host[:port][,host[:port]...]/MASTER, which "
         "asks sentinels for the master; or unix:///path. Better from the environment (TALLY_REDIS), where "
         "other users do not see the password (default: localhost:6379)")
      .type_name("URL")
      .environment("TALLY_REDIS");
  app.add_option(
         "--publish-redis", options->publish_redis,
         "Publish, and keep full copies, at this server, and only subscribe to that of --redis, which may be "
         "a replica of it (also from TALLY_PUBLISH_REDIS; default: --redis)")
      .type_name("URL")
      .environment("TALLY_PUBLISH_REDIS");
  add_file(app, "--password-file", options->password_file,
           "Password for --redis and --publish-redis: the first line of this file");
  add_file(
      app, "--sentinel-password-file", options->sentinel_password_file,
      "Password for the sentinels of sentinel://, which otherwise get none: the first line of this file");
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
                         "Start with the keys, shape and seed of this filter file (counting-bloom or dleft), "
                         "and read it again at "
                         "SIGHUP");
  for (Option option : {app.get_option("--kind"), keys, rate, positions, hashes}) file.excludes(option);
  for (Option option : {keys, rate, positions, hashes}) option.group(size);
  const std::string restart = "Restarts";
  file.group(restart);
  add_file(app, "--save", options->save_file,
           "Save the directory in this file at the end and every --save-interval, if it changed; a node that "
           "finds the "
           "file at its start continues from it, unless --load names another")
      .group(restart);
  add_duration(app, "--save-interval", options->save_interval, "Time between two saves (default: 1m)")
      .needs(app.get_option("--save"))
      .group(restart);
  app.add_flag("--publish-when-loaded", node.announces_later,
               "Publish nothing before the line !loaded or the end of the input, so that peers keep what "
               "they know of "
               "this node while it reads its keys again")
      .group(restart);
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
               "Keep running after the end of the input, until SIGINT or SIGTERM (without --load, SIGHUP "
               "too); a pipe "
               "is read again when the next writer opens it")
      .group(sending);
  add_count(app, "--epoch", options->epoch,
            "A number that grows with every start of this node (default: the time in microseconds)",
            {1, std::uint64_t{1} << 62})
      .group(sending);
  const std::string following = "Receiving";
  add_duration(app, "--forget", node.forget, "Remove a peer after this time without a message (default: 10m)")
      .group(following);
  add_count(app, "--max-peers", node.terms.max_peers,
            "Largest number of peers; further ones take the place of silent strangers, or are refused with a "
            "warning "
            "(default: 1000)")
      .group(following);
  add_count(app, "--max-new-peers", node.max_new_peers_per_second,
            "Largest number of new peers in a second (default: 100)", {1, 1'000'000})
      .group(following);
  add_size(app, "--max-message", node.max_message_bytes,
           "Longest message or full copy to send or receive (default: 32MiB)", 1024)
      .group(following);
  add_size(app, "--max-memory", node.terms.max_total_bytes,
           "Memory for the summaries of all peers (default: 1GiB)", 4096)
      .group(following);
  app.add_flag("--with-version-1", node.with_version_1,
               "While a group is upgraded: send every message in format version 1 too, and take such "
               "messages unsigned in "
               "spite of --key-file")
      .group("Upgrade");
  const std::string api = "Sockets";
  add_file(
      app, "--api-socket", options->api.socket,
      "Answer HTTP requests and lines at this unix socket, which only this user can open; 'none' for none "
      "(default: NAME.sock in $RUNTIME_DIRECTORY, or tally-GROUP-NAME.sock in $XDG_RUNTIME_DIR)")
      .group(api);
  app.add_option("--api-listen", options->api.listen,
                 "Answer HTTP requests and lines at HOST:PORT, or at :PORT of 127.0.0.1; any other address "
                 "than this machine's "
                 "own needs a token")
      .type_name("ADDRESS")
      .group(api);
  add_file(app, "--api-token-file", options->api.token_file,
           "Refuse requests over TCP without this token: the first line of this file")
      .needs(app.get_option("--api-listen"))
      .group(api);
  app.add_parsed(
         "--api-socket-mode",
         [options](std::string_view text) { options->api.socket_mode = socket_mode_of(text); },
         "Permissions of the unix socket, in octal digits: 660 lets the group of the process use it "
         "(default: 600)",
         "MODE")
      .group(api);
  const std::string running = "Running as a service";
  app.add_config(
         "--config",
         "Take options from this file (TOML or INI): 'interval = \"2s\"' is --interval 2s. Those on the "
         "command line replace them")
      .group(running);
  app.add_flag("--check-config", options->checks_only,
               "Check the options, the files that they name and the addresses, and end")
      .group(running);
  app.add_flag("--no-input", options->no_input,
               "Do not read standard input, and stay; keys come through the sockets")
      .group(running);
  add_choice(app, "--log", options->log_form,
             "Form of remarks and warnings on standard error (default: text)", {"text", "json"})
      .group(running);
  add_choice(app, "--log-level", options->log_level, "Least of what is printed there (default: info)",
             {"info", "warning", "error"})
      .group(running);
  add_hasher_options(app, options->hasher);
  file.excludes(app.get_option("--seed"));
  app.add_flag("-z,--null", options->nul_separated,
               "Commands and answers end with a NUL byte, not with a newline");
  add_key_type(app, options->key_type);
  app.add_flag("--json", options->json, "Print answers as JSON, one object per line");
  add_quiet(app, options->quiet);
  return [options] { return run_node(*options); };
}

}  // namespace tally::cli
