#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "cli/documents.hpp"
#include "cli/options.hpp"
#include "commands/squid_actions.hpp"
#include "files/filter_file.hpp"
#include "input/input_is_output.hpp"
#include "squid/source.hpp"

// Digests that are written to a file: of URLs, or fetched from a Squid.

namespace tally::cli {

namespace {

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
  refuse_input_as_output(options.urls.input.files, options.output);
  const OutputFile output(options.output, options.force, options.quiet);
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
  output.save(digest.to_bytes());

  if (options.json) {
    Json json = digest_to_json(digest);
    json["num_urls"] = num_urls;
    options.output == "-" ? remark(options.quiet, json.dump()) : print_json(json);
  }
  remark(
      options.quiet || options.json,
      fmt::format("{} URLs, {} of them distinct, in {} bits; false positive rate {}", num_urls, keys.size(),
                  digest.shape().num_bits(), human_rate(digest.estimated_false_positive_rate())));
  if (keys.size() > capacity) {
    remark(false,
           fmt::format("warning: planned for {} URLs, but there are {}; none is lost, but the false positive "
                       "rate is now {}; give more --capacity",
                       capacity, keys.size(), human_rate(digest.estimated_false_positive_rate())));
  }
  return num_urls > 0 ? ExitCode::success : ExitCode::none;
}

struct SquidFetchOptions {
  std::string url;
  std::string output;
  bool force = false;
  bool quiet = false;
};

ExitCode run_fetch(const SquidFetchOptions& options) {
  const OutputFile output(options.output, options.force, options.quiet);
  const SquidDigest digest = open_squid_digest(options.url);
  output.save(digest.to_bytes());
  remark(options.quiet,
         fmt::format("{} entries in {} bits; false positive rate {}", digest.totals().count,
                     digest.shape().num_bits(), human_rate(digest.estimated_false_positive_rate())));
  return ExitCode::success;
}

}  // namespace

Run declare_squid_build(CommandLine app) {
  const auto options = std::make_shared<SquidBuildOptions>();
  add_details(app, R"(
      The digest is for objects that Squid caches for GET requests. Without --capacity it is planned for the number
      of distinct URLs.
      )");
  app.set_exit_status(
      {.success = "after success", .none = "if the input had no URLs (an empty digest is written)"});
  add_file(app, "-o,--output", options->output, "Write the digest to this file ('-': standard output)")
      .required();
  add_urls(app, options->urls);
  add_count(app, "-n,--capacity", options->capacity, "Number of URLs to plan for");
  add_count(app, "-b,--bits-per-entry", options->bits_per_entry,
            "Bits per URL; peers may have other values (default: 5, as in Squid)",
            {1, SquidShape::max_bits_per_entry});
  add_force(app, options->force);
  add_json(app, options->json);
  add_quiet(app, options->quiet);
  return [options] { return run_build(*options); };
}

Run declare_squid_fetch(CommandLine app) {
  const auto options = std::make_shared<SquidFetchOptions>();
  app.set_exit_status({.success = "after success"});
  app.add_option("url", options->url, "The Squid, as http://host:port, or the whole URL of a digest")
      .type_name("URL")
      .required();
  add_file(app, "-o,--output", options->output, "Write the digest to this file ('-': standard output)")
      .required();
  add_force(app, options->force);
  add_quiet(app, options->quiet);
  return [options] { return run_fetch(*options); };
}

}  // namespace tally::cli
