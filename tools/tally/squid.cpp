// tally squid: cache digests of Squid (docs/squid.md).

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "commands.hpp"
#include "digest_server.hpp"
#include "documents.hpp"
#include "filter_file.hpp"
#include "key_loop.hpp"
#include "options.hpp"
#include "squid_source.hpp"
#include "tally/serialization.hpp"
#include "tally/summaries/squid_key.hpp"

namespace tally::cli {

namespace {

struct UrlOptions {
  InputOptions input;
  bool as_is = false;
};

void add_urls(CLI::App& app, UrlOptions& options) {
  add_input_options(app, options.input);
  app.add_flag(
      "--as-is", options.as_is,
      "Take the URLs as they are, and not as Squid writes them (host in lower case, no port 80, ...)");
}

/// Reads all URLs: use(url, key). Returns how many.
template <class Use>
std::uint64_t for_each_url(const UrlOptions& options, bool quiet, Use use) {
  KeyReader reader(options.input);
  Progress progress(quiet);
  std::uint64_t num_urls = 0;
  while (true) {
    const std::span<const std::string_view> urls = reader.next();
    if (urls.empty()) return num_urls;
    for (const std::string_view url : urls) {
      use(url, options.as_is ? SquidKey(SquidMethod::get, url) : SquidKey(SquidMethod::get, squid_url(url)));
    }
    num_urls += urls.size();
    progress.update(num_urls, reader.bytes_read(), reader.total_bytes());
  }
}

void save_digest(const std::vector<std::byte>& bytes, const std::string& path, bool force) {
  if (path == "-") {
    print({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } else {
    save_bytes(bytes, path, force ? Overwrite::replace : Overwrite::refuse);
  }
}

Json digest_to_json(const SquidDigest& digest) {
  return {
      {"capacity", digest.shape().capacity},
      {"bits_per_entry", digest.shape().bits_per_entry},
      {"num_bits", digest.shape().num_bits()},
      {"count", digest.totals().count},
      {"del_count", digest.totals().del_count},
      {"fill_ratio", digest.fill_ratio()},
      {"estimated_false_positive_rate", digest.estimated_false_positive_rate()},
      {"planned_false_positive_rate", planned_false_positive_rate(digest.shape(), digest.shape().capacity)}};
}

struct SquidBuildOptions {
  std::string output;
  UrlOptions urls;
  std::optional<std::uint64_t> capacity;
  std::uint32_t bits_per_entry = 5;
  bool force = false;
  bool json = false;
  bool quiet = false;
};

ExitCode run_build(const SquidBuildOptions& options) {
  check_overwrite(options.output, options.force);
  if (options.capacity)
    check_shape(SquidShape{*options.capacity, options.bits_per_entry});  // before any input is read
  std::vector<SquidKey> keys;
  const std::uint64_t num_urls = for_each_url(
      options.urls, options.quiet, [&](std::string_view, const SquidKey& key) { keys.push_back(key); });
  refuse_if_stopped(options.output);
  std::ranges::sort(keys, {}, &SquidKey::words);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());

  const std::uint64_t capacity = options.capacity.value_or(std::max<std::uint64_t>(keys.size(), 1));
  SquidDigest digest({capacity, options.bits_per_entry});
  for (const SquidKey& key : keys) digest.insert(key);
  save_digest(digest.to_bytes(), options.output, options.force);

  if (options.json) {
    Json json = digest_to_json(digest);
    json["num_urls"] = num_urls;
    options.output == "-" ? remark(options.quiet, json.dump()) : print_json(json);
  }
  remark(options.quiet || options.json,
         fmt::format("{} URLs, {} of them distinct, in {} bits: another one passes with {}", num_urls,
                     keys.size(), digest.shape().num_bits(),
                     human_rate(digest.estimated_false_positive_rate())));
  if (keys.size() > capacity) {
    remark(false,
           fmt::format("warning: planned for {} URLs, and there are {}; none is lost, but the error is "
                       "now {}; give more --capacity",
                       capacity, keys.size(), human_rate(digest.estimated_false_positive_rate())));
  }
  return num_urls > 0 ? ExitCode::success : ExitCode::none;
}

struct SquidQueryOptions {
  std::string digest;
  UrlOptions urls;
  bool invert = false;
  bool count_only = false;
  bool json = false;
  bool line_buffered = false;
  bool quiet = false;
};

ExitCode run_query(const SquidQueryOptions& options) {
  const SquidDigest digest = open_squid_digest(options.digest);
  Output output({options.urls.input.nul_separated, options.line_buffered});
  std::uint64_t num_found = 0;
  const std::uint64_t num_urls =
      for_each_url(options.urls, options.quiet, [&](std::string_view url, const SquidKey& key) {
        const bool found = digest.may_contain(key);
        num_found += found ? 1 : 0;
        if (!options.count_only && !options.json && found != options.invert) output.write_key(url);
      });
  const std::uint64_t num_selected = options.invert ? num_urls - num_found : num_found;
  if (options.json) {
    output.write(
        Json{{"num_urls", num_urls}, {"num_found", num_found}, {"num_absent", num_urls - num_found}}.dump(2));
    output.write("\n");
  } else if (options.count_only) {
    output.write(fmt::format("{}\n", num_selected));
  }
  output.finish();
  return num_selected > 0 ? ExitCode::success : ExitCode::none;
}

struct SquidInfoOptions {
  std::string digest;
  bool json = false;
};

ExitCode run_info(const SquidInfoOptions& options) {
  const SquidDigest digest = open_squid_digest(options.digest);
  if (options.json) {
    print_json(digest_to_json(digest));
    return ExitCode::success;
  }
  const SquidShape& shape = digest.shape();
  const std::initializer_list<std::pair<const char*, std::string>> rows{
      {"capacity", fmt::format("{}", shape.capacity)},
      {"bits", fmt::format("{}, {} an entry", shape.num_bits(), shape.bits_per_entry)},
      {"count", fmt::format("{}", digest.totals().count)},
      {"deletions", fmt::format("{}", digest.totals().del_count)},
      {"fill", human_rate(digest.fill_ratio())},
      {"error now", human_rate(digest.estimated_false_positive_rate())},
      {"error planned",
       fmt::format("{}, with {} URLs", human_rate(planned_false_positive_rate(shape, shape.capacity)),
                   shape.capacity)},
  };
  std::string text;
  for (const auto& [name, value] : rows) text += fmt::format("{:<14} {}\n", name, value);
  print(text);
  return ExitCode::success;
}

struct SquidFetchOptions {
  std::string url;
  std::string output;
  bool force = false;
  bool quiet = false;
};

ExitCode run_fetch(const SquidFetchOptions& options) {
  check_overwrite(options.output, options.force);
  const SquidDigest digest = open_squid_digest(options.url);
  save_digest(digest.to_bytes(), options.output, options.force);
  remark(options.quiet,
         fmt::format("{} entries in {} bits: another URL passes with {}", digest.totals().count,
                     digest.shape().num_bits(), human_rate(digest.estimated_false_positive_rate())));
  return ExitCode::success;
}

CLI::Option* add_digest(CLI::App& app, std::string& digest) {
  return app
      .add_option("digest", digest, "A file, or http://host:port of a Squid that is asked for its digest")
      ->type_name("FILE")
      ->required();
}

Run declare_squid_build(CLI::App& app) {
  const auto options = std::make_shared<SquidBuildOptions>();
  add_details(
      app,
      "Keys are what Squid caches under GET. Without --capacity the digest is made for the number of "
      "distinct URLs. Exit status: 0, 1 if the input held no URLs (an empty digest is written), 2 after "
      "an error.");
  add_file(app, "-o,--output", options->output, "Write the digest here ('-': standard output)")->required();
  add_urls(app, options->urls);
  add_count(app, "-n,--capacity", options->capacity, "URLs to plan for");
  add_count(app, "-b,--bits-per-entry", options->bits_per_entry,
            "Bits for each of them; the peers' Squid need not have the same (default: 5, as Squid's)",
            {1, SquidShape::max_bits_per_entry});
  add_force(app, options->force);
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  return [options] { return run_build(*options); };
}

Run declare_squid_query(CLI::App& app) {
  const auto options = std::make_shared<SquidQueryOptions>();
  add_details(
      app,
      "A URL whose object Squid put into the digest is always printed; another one is printed with the "
      "digest's error ('tally squid info' says how large that is). Exit status: 0 if a URL was "
      "selected, 1 if none was, 2 after an error.");
  add_digest(app, options->digest);
  add_urls(app, options->urls);
  app.add_flag("-v,--invert", options->invert, "Print the URLs that are certainly not in the digest instead");
  app.add_flag("-c,--count", options->count_only, "Print only the number of selected URLs");
  app.add_flag("--json", options->json, "Print the numbers of URLs found and absent as JSON, and no URLs");
  add_line_buffered(app, options->line_buffered);
  add_quiet(app, options->quiet);
  return [options] { return run_query(*options); };
}

Run declare_squid_info(CLI::App& app) {
  const auto options = std::make_shared<SquidInfoOptions>();
  add_digest(app, options->digest);
  add_json(app, options->json);
  return [options] { return run_info(*options); };
}

Run declare_squid_fetch(CLI::App& app) {
  const auto options = std::make_shared<SquidFetchOptions>();
  app.add_option("url", options->url, "Http://host:port of the Squid, or the whole URL of a digest")
      ->type_name("URL")
      ->required();
  add_file(app, "-o,--output", options->output, "Write the digest here ('-': standard output)")->required();
  add_force(app, options->force);
  add_quiet(app, options->quiet);
  return [options] { return run_fetch(*options); };
}

Run declare_squid_serve(CLI::App& app) {
  const auto options = std::make_shared<DigestServerOptions>();
  add_details(
      app,
      "Serves the file where a Squid looks for it, and reads it again when it is replaced. A Squid asks "
      "for it with the line 'cache_peer HOST sibling PORT 0 no-query', or with the option 'digest-url=' "
      "if the objects are elsewhere. What it is asked for as a cache it does not have (504), "
      "everything else is not found (404). Ends at SIGINT or SIGTERM, with status 0.");
  app.add_option("digest", options->path, "The digest file")->type_name("FILE")->required();
  add_count(app, "--port", options->port, "TCP port; 0: one that is free, which is said (default: 3128)",
            {0});
  app.add_option("--host", options->host, "Address to listen on; :: for all (default: 127.0.0.1)")
      ->type_name("ADDRESS");
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

Run declare_squid(CLI::App& app) {
  add_details(app,
              "Squid tells its peers what it has by a Bloom filter of URLs, its cache digest. These commands "
              "read, ask, write and serve such digests.");
  app.require_subcommand(1);
  struct Action {
    const char* name;
    const char* summary;
    Run (*declare)(CLI::App& app);
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
  std::vector<std::pair<CLI::App*, Run>> actions;
  for (const Action& action : table) {
    CLI::App* own = app.add_subcommand(action.name, action.summary);
    own->group("Actions");
    own->footer(action.examples);
    Run run = action.declare(*own);
    actions.emplace_back(own, std::move(run));
  }
  return [actions] {
    for (const auto& [own, run] : actions) {
      if (!own->parsed()) continue;
      set_command_name("tally squid " + own->get_name());
      return run();
    }
    return ExitCode::error;  // not reached: one is required
  };
}

}  // namespace tally::cli
