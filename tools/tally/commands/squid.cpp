// tally squid: cache digests of Squid (docs/squid.md).

#include <memory>
#include <utility>
#include <vector>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "commands/commands.hpp"
#include "commands/squid_actions.hpp"
#include "squid/digest_server.hpp"

namespace tally::cli {

namespace {

Run declare_squid_serve(CommandLine app) {
  const auto options = std::make_shared<DigestServerOptions>();
  add_details(app, R"(
      Serves the file at the path where a Squid looks for it, and reads it again when it is replaced. A Squid
      requests it if its configuration has the line 'cache_peer HOST sibling PORT 0 no-query'; the option
      'digest-url=' is for objects that are on another machine. The digest is answered with 200 or 304, a request for
      an object (a whole URL, or with 'only-if-cached') with 504, another path with 404, and a method other than GET
      and HEAD with 405. SIGINT, SIGTERM and SIGHUP end the command.
      )");
  app.set_exit_status({.success = "after a signal that ended the command"});
  app.add_option("digest", options->path, "The digest file").type_name("FILE").required();
  add_count(app, "--port", options->port, "TCP port; 0 selects a free one and prints it (default: 3128)",
            {0});
  app.add_option("--host", options->host, "Address to listen on; :: is all addresses (default: 127.0.0.1)")
      .type_name("ADDRESS");
  add_count(app, "--expires", options->expires_seconds,
            "Seconds until a peer should fetch the digest again (default: 3600)");
  add_file(app, "--access-log", options->access_log,
           "Add a line for each request to this file, in the combined format of web servers; SIGUSR1 opens "
           "it again, "
           "after it was moved away");
  app.add_flag("--log", options->log, "Print the status, method and target of each request");
  add_quiet(app, options->quiet);
  return [options] {
    serve_digest(*options);
    return ExitCode::success;
  };
}

}  // namespace

Run declare_squid(CommandLine app) {
  add_details(app, R"(
      A Squid sends its peers a cache digest, a Bloom filter of the URLs in its cache. These commands read, query,
      write and serve such digests.
      )");
  app.require_command();
  struct Action {
    const char* name;
    const char* summary;
    Run (*declare)(CommandLine app);
    const char* examples;
  };
  const std::initializer_list<Action> table{
      {"build", "Write a digest of URLs", declare_squid_build, R"(
tally squid build -o digest urls.txt
tally squid build -o digest --capacity 10M --bits-per-entry 8 < urls
)"},
      {"query", "Print the URLs that a Squid may have, or those that it does not have", declare_squid_query,
       R"(
tally squid query http://cache1:3128 urls.txt  # fetches the digest of a running Squid
tally squid query -v digest urls.txt           # URLs that are certainly not there
)"},
      {"info", "Describe a digest: contents and current false positive rate", declare_squid_info, R"(
tally squid info http://cache1:3128
tally squid info --json digest
)"},
      {"fetch", "Fetch the digest of a Squid and write it to a file", declare_squid_fetch, R"(
tally squid fetch http://cache1:3128 -o digest
)"},
      {"serve", "Serve a digest to Squids that have this machine as a peer", declare_squid_serve, R"(
tally squid serve digest --port 3128 --host :: --log
)"},
  };
  std::vector<std::pair<CommandLine, Run>> actions;
  for (const Action& action : table) {
    CommandLine own = app.add_command(action.name, action.summary, "Actions", action.examples);
    Run run = action.declare(own);
    actions.emplace_back(own, std::move(run));
  }
  return [actions] {
    for (const auto& [own, run] : actions) {
      if (!own.was_called()) continue;
      set_command_name("tally squid " + own.name());
      return run();
    }
    return ExitCode::error;  // not reached: one is required
  };
}

}  // namespace tally::cli
