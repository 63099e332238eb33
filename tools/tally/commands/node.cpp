#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "cli/secret_file.hpp"
#include "cli/signals.hpp"
#include "commands/commands.hpp"
#include "node/api.hpp"
#include "node/directory.hpp"
#include "node/directory_file.hpp"
#include "node/node_loop.hpp"
#include "node/summary_node.hpp"
#include "shape/shape.hpp"
#include "store/options.hpp"
#include "tally/any_filter/summary.hpp"
#include "tally/redis_client/servers.hpp"
#include "tally/serialization.hpp"
#include "text/duration.hpp"
#include "text/output_check.hpp"

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
constexpr const char* redis_variable = "TALLY_REDIS";
constexpr const char* publish_redis_variable = "TALLY_PUBLISH_REDIS";

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
    remark(false, fmt::format("reloaded '{}'", options.load_file));
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

/// A password that every user of the machine can read with ps, or with the file of options.
void warn_of_password(const char* flag, const char* variable, const std::string& text,
                      redis_client::Servers& servers) {
  const char* const in_environment = std::getenv(variable);
  if (in_environment != nullptr && text == in_environment) return;
  const std::vector<redis_client::Address*> logins = servers.logins();
  if (std::ranges::all_of(logins, [](const auto* login) { return login->password.empty(); })) return;
  warn(
      fmt::format("{}: others can read this password, in the list of processes or in the file of options; "
                  "give --password-file, or the whole address in {}",
                  flag, variable));
}

/// The servers that `flag` or the variable gives, with the passwords of the files.
redis_client::Servers servers_of(const NodeCommandOptions& options, const char* flag, const char* variable,
                                 const std::string& text) {
  using redis_client::Password;
  redis_client::Servers servers;
  try {
    servers = redis_client::parse_servers(
        text, options.password_file.empty() ? Password::required : Password::comes_later);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", flag, error.what()));
  }
  warn_of_password(flag, variable, text, servers);
  for (redis_client::Address* server : servers.logins()) {
    take_password_file(options.password_file, flag, *server);
  }
  if (!servers.has_sentinels() || options.sentinel_password_file.empty()) return servers;
  const std::string password = secret_in("--sentinel-password-file", options.sentinel_password_file);
  for (redis_client::Address& sentinel : servers.list) sentinel.password = password;
  return servers;
}

struct NodeServers {
  redis_client::Servers all;
  std::optional<redis_client::Servers> to_publish;
};

NodeServers servers_of(const NodeCommandOptions& options) {
  NodeServers servers{.all = servers_of(options, "--redis", redis_variable, options.redis), .to_publish = {}};
  if (!options.publish_redis.empty()) {
    servers.to_publish =
        servers_of(options, "--publish-redis", publish_redis_variable, options.publish_redis);
  }
  const bool has_sentinels =
      servers.all.has_sentinels() || (servers.to_publish && servers.to_publish->has_sentinels());
  if (!options.sentinel_password_file.empty() && !has_sentinels) {
    throw std::invalid_argument(
        "--sentinel-password-file is only for sentinel://; give that, or leave the file out");
  }
  return servers;
}

// Opens no socket and locks no file, so that it can be asked beside a node that runs with the same options.
ExitCode check_only(NodeCommandOptions& options, const std::optional<HashKey>& secret) {
  options.api.check();
  if (!options.save_file.empty()) check_can_write(options.save_file);
  SummaryNode::check(options.node, make_directory(options, secret).layout());
  print("the configuration is valid\n");
  return ExitCode::success;
}

LogStyle log_style_of(const NodeCommandOptions& options) {
  using enum LogStyle::Level;
  return {.least = options.log_level == "info"      ? info
                   : options.log_level == "warning" ? warning
                                                    : error,
          .json = options.log_form == "json"};
}

/// What was given once for several parts of the node.
void complete(NodeCommandOptions& options) {
  if (options.no_input) options.stay = true;
  options.node.terms.takes_unsigned = options.node.with_version_1;
  options.api.lines.json = options.json;
  options.api.lines.key_type = options.key_type;
  options.api.quiet = options.quiet;
  options.api.is_only_way = options.no_input;
}

NodeLoop::Options loop_options_of(const NodeCommandOptions& options) {
  return {.commands = {.lines = {.nul_separated = options.nul_separated,
                                 .json = options.json,
                                 .key_type = options.key_type},
                       .quiet = options.quiet,
                       .stays = options.stay},
          .group = options.node.group,
          .api = options.api,
          .reads_input = !options.no_input,
          .linger = options.linger};
}

ExitCode run_node(NodeCommandOptions& options) {
  set_log_style(log_style_of(options));
  complete(options);
  NodeServers servers = servers_of(options);
  const std::optional<HashKey> secret = options.hasher.key();
  if (options.checks_only) return check_only(options, secret);
  // A service has no terminal that could be closed: there, SIGHUP never asks to stop.
  if (!options.load_file.empty() || options.no_input) install_reload_handler();
  std::optional<DirectoryFile> saved;
  if (!options.save_file.empty()) saved.emplace(options.save_file, options.save_interval, steady_now());
  NodeDirectory directory = make_directory(options, secret);
  if (!secret) {
    remark(options.quiet,
           "without --key-file, anybody who may publish on this server can speak for this node");
  }
  SummaryNode node(options.node, std::move(directory), std::move(servers.all), std::move(servers.to_publish),
                   steady_now());
  NodeLoop::Options loop = loop_options_of(options);
  if (!options.load_file.empty()) loop.reload = [&] { reload(node, options, secret); };
  return NodeLoop(loop, node, saved ? &*saved : nullptr).run() == 0 ? ExitCode::success : ExitCode::none;
}

void add_server_options(CommandLine app, NodeCommandOptions& options) {
  NodeOptions& node = options.node;
  app.add_option("name", node.name, "Name of this node: letters, digits, '.', '_' and '-'")
      .type_name("NAME")
      .required();
  app.add_option(
         "--redis", options.redis,
         "The server: redis://[[user]:password@]host[:port][,host[:port]...], of which the first is used "
         "that answers and is no replica; sentinel://[[user]:password@]host[:port][,host[:port]...]/MASTER, "
         "which asks sentinels for the master; or unix:///path. Give a password with --password-file, or the "
         "whole URL in TALLY_REDIS: other users see the command line (default: localhost:6379)")
      .type_name("URL")
      .environment(redis_variable);
  app.add_option(
         "--publish-redis", options.publish_redis,
         "Publish, and keep full copies, at this server, and only subscribe to that of --redis, which may be "
         "a replica of it (also from TALLY_PUBLISH_REDIS; default: --redis)")
      .type_name("URL")
      .environment(publish_redis_variable);
  add_file(app, "--password-file", options.password_file,
           "Password for --redis and --publish-redis: the first line of this file");
  add_file(
      app, "--sentinel-password-file", options.sentinel_password_file,
      "Password for the sentinels of sentinel://, which otherwise get none: the first line of this file");
  app.add_option("--group", node.group, "Group of nodes that share their summaries (default: default)")
      .type_name("NAME");
}

void add_size_options(CommandLine app, NodeCommandOptions& options) {
  const std::string size = "Size";
  add_choice(app, "--kind", options.shape.kind,
             "Structure that counts the keys: counting-bloom sends bits, dleft sends cells (default: "
             "counting-bloom)",
             {std::string(name_of(FilterKind::counting_bloom)), std::string(name_of(FilterKind::dleft))})
      .group(size);
  Option keys =
      add_count(app, "-n,--keys", options.shape.wanted.num_keys,
                "Number of keys to plan for, at any one time (default: 100000)", {1, std::uint64_t{1} << 40});
  Option rate = add_rate(app, "-p,--false-positive-rate", options.shape.wanted.false_positive_rate,
                         "Largest false positive rate: how often an answer names a peer that does not have "
                         "the key (default: 1%)");
  Option positions = add_count(app, "--num-positions", options.shape.num_positions, "Exact number of bits");
  Option hashes =
      add_count(app, "-k,--num-hashes", options.shape.num_hashes, "Exact number of positions per key");
  for (Option exact : {positions, hashes}) exact.excludes(keys).excludes(rate);
  for (Option option : {keys, rate, positions, hashes}) option.group(size);
}

void add_restart_options(CommandLine app, NodeCommandOptions& options) {
  NodeOptions& node = options.node;
  const std::string restart = "Restarts";
  Option file = add_file(app, "--load", options.load_file,
                         "Start with the keys, shape and seed of this filter file (counting-bloom or dleft), "
                         "and read it again at SIGHUP");
  for (const char* const name :
       {"--kind", "--keys", "--false-positive-rate", "--num-positions", "--num-hashes"})
    file.excludes(app.get_option(name));
  file.group(restart);
  add_file(app, "--save", options.save_file,
           "Save the directory in this file at the end and every --save-interval, if it changed; a node that "
           "finds the file at its start continues from it, unless --load names another")
      .group(restart);
  add_duration(app, "--save-interval", options.save_interval, "Time between two saves (default: 1m)")
      .needs(app.get_option("--save"))
      .group(restart);
  app.add_flag("--publish-when-loaded", node.announces_later,
               "Publish nothing before the line !loaded or the end of the input, so that peers keep what "
               "they know of this node while it reads its keys again")
      .group(restart);
}

void add_sending_options(CommandLine app, NodeCommandOptions& options) {
  NodeOptions& node = options.node;
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
  add_duration(app, "--linger", options.linger, "Longest time to wait for Redis at the end (default: 10s)")
      .group(sending);
  app.add_flag("--stay", options.stay,
               "Keep running after the end of the input, until SIGINT or SIGTERM (SIGHUP too, without --load "
               "and --no-input); a pipe is read again when the next writer opens it")
      .group(sending);
  add_count(app, "--epoch", options.epoch,
            "A number that grows with every start of this node (default: the time in microseconds)",
            {1, std::uint64_t{1} << 62})
      .group(sending);
}

void add_receiving_options(CommandLine app, NodeCommandOptions& options) {
  NodeOptions& node = options.node;
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
}

void add_socket_options(CommandLine app, NodeCommandOptions& options) {
  const std::string api = "Sockets";
  add_file(
      app, "--api-socket", options.api.socket,
      "Answer HTTP requests and lines at this unix socket, which only this user can open; 'none' for none "
      "(default: NAME.sock in $RUNTIME_DIRECTORY, or tally-GROUP-NAME.sock in $XDG_RUNTIME_DIR)")
      .group(api);
  app.add_option("--api-listen", options.api.listen,
                 "Answer HTTP requests and lines at HOST:PORT, or at :PORT of 127.0.0.1; any other address "
                 "than this machine's "
                 "own needs a token")
      .type_name("ADDRESS")
      .group(api);
  add_file(app, "--api-token-file", options.api.token_file,
           "Refuse requests over TCP without this token: the first line of this file")
      .needs(app.get_option("--api-listen"))
      .group(api);
  app.add_parsed(
         "--api-socket-mode",
         [&options](std::string_view text) { options.api.socket_mode = socket_mode_of(text); },
         "Permissions of the unix socket, in octal digits: 660 lets the group of the process use it "
         "(default: 600)",
         "MODE")
      .group(api);
}

void add_service_options(CommandLine app, NodeCommandOptions& options) {
  const std::string running = "Running as a service";
  app.add_config(
         "--config",
         "Take options from this file (TOML or INI): 'interval = \"2s\"' is --interval 2s. Those on the "
         "command line replace them")
      .group(running);
  app.add_flag("--check-config", options.checks_only,
               "Check the options, the files that they name and the addresses, and end")
      .group(running);
  app.add_flag("--no-input", options.no_input,
               "Do not read standard input, and stay; keys come through the sockets")
      .group(running);
  add_choice(app, "--log", options.log_form, "Form of remarks and warnings on standard error (default: text)",
             {"text", "json"})
      .group(running);
  add_choice(app, "--log-level", options.log_level,
             "Least of what is printed there; warning leaves out all remarks (default: info)",
             {"info", "warning", "error"})
      .group(running);
}

// Its outputs, its keys, and their hash.
void add_key_options(CommandLine app, NodeCommandOptions& options) {
  add_hasher_options(app, options.hasher);
  app.get_option("--load").excludes(app.get_option("--seed"));
  app.add_flag("-z,--null", options.nul_separated,
               "Commands and answers end with a NUL byte, not with a newline");
  add_key_type(app, options.key_type);
  app.add_flag("--json", options.json, "Print answers as JSON, one object per line");
  app.add_flag(
      "-q,--quiet", options.quiet,
      "Print no remarks about the start and the input on standard error; those about what happens while "
      "the node runs depend on --log-level");
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
        !false PEER [NUMBER]: reports that this number of answers (1) that named PEER were wrong.

      At a socket, there are also:

        !json, !text: choose the form of the answers.
        !token TOKEN: the first line over TCP, if the node has an --api-token-file.

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
  options->node.terms.max_peers = 1000;
  options->node.terms.max_total_bytes = std::uint64_t{1} << 30;
  for (const auto add : {add_server_options, add_size_options, add_restart_options, add_sending_options,
                         add_receiving_options, add_socket_options, add_service_options, add_key_options})
    add(app, *options);
  return [options] { return run_node(*options); };
}

}  // namespace tally::cli
