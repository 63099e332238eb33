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
  add_details(
      app,
      "Serves the file where a Squid looks for it, and reads it again when it is replaced. A Squid asks "
      "for it with the line 'cache_peer HOST sibling PORT 0 no-query', or with the option 'digest-url=' "
      "if the objects are elsewhere. What it is asked for as a cache it does not have (504), "
      "everything else is not found (404). Ends at SIGINT, SIGTERM or SIGHUP, with status 0.");
  app.add_option("digest", options->path, "The digest file").type_name("FILE").required();
  add_count(app, "--port", options->port, "TCP port; 0: one that is free, which is said (default: 3128)",
            {0});
  app.add_option("--host", options->host, "Address to listen on; :: for all (default: 127.0.0.1)")
      .type_name("ADDRESS");
  add_count(app, "--expires", options->expires_seconds,
            "Seconds until a peer should ask again (default: 3600)");
  app.add_flag("--log", options->log, "Print status, method and target of every request");
  add_quiet(app, options->quiet);
  return [options] {
    serve_digest(*options);
    return ExitCode::success;
  };
}

}  // namespace

Run declare_squid(CommandLine app) {
  add_details(app,
              "Squid tells its peers what it has by a Bloom filter of URLs, its cache digest. These commands "
              "read, ask, write and serve such digests.");
  app.require_command();
  struct Action {
    const char* name;
    const char* summary;
    Run (*declare)(CommandLine app);
    const char* examples;
  };
  const std::initializer_list<Action> table{
      {"build", "write a digest of URLs", declare_squid_build,
       "tally squid build -o digest urls.txt\n"
       "tally squid build -o digest --capacity 10M --bits-per-entry 8 < urls\n"},
      {"query", "print the URLs that a Squid may have, or those it does not", declare_squid_query,
       "tally squid query http://cache1:3128 urls.txt  # asks a running Squid\n"
       "tally squid query -v digest urls.txt           # those that are certainly not there\n"},
      {"info", "show what a digest holds, and its error now", declare_squid_info,
       "tally squid info http://cache1:3128\n"
       "tally squid info --json digest\n"},
      {"fetch", "ask a Squid for its digest and write it to a file", declare_squid_fetch,
       "tally squid fetch http://cache1:3128 -o digest\n"},
      {"serve", "serve a digest to Squids that have us as a peer", declare_squid_serve,
       "tally squid serve digest --port 3128 --host :: --log\n"},
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
