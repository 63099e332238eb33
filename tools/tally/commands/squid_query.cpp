#include <fmt/core.h>

#include <memory>
#include <utility>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "commands/selected_keys.hpp"
#include "commands/squid_actions.hpp"
#include "squid/source.hpp"

// Digests that are read: which URLs they may have, and their properties.

namespace tally::cli {

namespace {

struct SquidQueryOptions {
  std::string digest;
  UrlOptions urls;
  SelectionOptions selection;
  bool quiet = false;
};

ExitCode run_query(const SquidQueryOptions& options) {
  const SquidDigest digest = open_squid_digest(options.digest);
  SelectedKeys selected(options.selection, options.urls.input);
  for_each_url(options.urls, options.quiet, [&](std::string_view url, const SquidKey& key) {
    selected.take(url, digest.may_contain(key));
  });
  return selected.finish("num_urls");
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
      {"bits", fmt::format("{}, {} per entry", shape.num_bits(), shape.bits_per_entry)},
      {"count", fmt::format("{}", digest.totals().count)},
      {"deletions", fmt::format("{}", digest.totals().del_count)},
      {"fill", human_rate(digest.fill_ratio())},
      {"false positive rate", human_rate(digest.estimated_false_positive_rate())},
      {"planned rate",
       fmt::format("{} with {} URLs", human_rate(planned_false_positive_rate(shape, shape.capacity)),
                   shape.capacity)},
  };
  std::string text;
  for (const auto& [name, value] : rows) text += fmt::format("{:<20} {}\n", name, value);
  print(text);
  return ExitCode::success;
}

Option add_digest(CommandLine app, std::string& digest) {
  return app.add_option("digest", digest, "Digest file, or http://host:port of a Squid whose digest to fetch")
      .type_name("FILE")
      .required();
}

}  // namespace

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

Run declare_squid_query(CommandLine app) {
  const auto options = std::make_shared<SquidQueryOptions>();
  add_details(app, R"(
      A URL that is in the digest is always printed. Another URL is printed with the probability of the digest's
      false positive rate, which 'tally squid info' shows.
      )");
  app.set_exit_status({.success = "if a URL was selected", .none = "if none was"});
  add_digest(app, options->digest);
  add_urls(app, options->urls);
  app.add_flag("-v,--invert", options->selection.invert,
               "Print the URLs that are certainly not in the digest instead");
  app.add_flag("-c,--count", options->selection.count_only, "Print only the number of selected URLs");
  app.add_flag("--json", options->selection.json, "Print only the numbers of URLs found and absent, as JSON");
  add_line_buffered(app, options->selection.line_buffered);
  add_quiet(app, options->quiet);
  return [options] { return run_query(*options); };
}

Run declare_squid_info(CommandLine app) {
  const auto options = std::make_shared<SquidInfoOptions>();
  app.set_exit_status({.success = "after success"});
  add_digest(app, options->digest);
  add_json(app, options->json);
  return [options] { return run_info(*options); };
}

}  // namespace tally::cli
