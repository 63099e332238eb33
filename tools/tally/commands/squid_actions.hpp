#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cli/command.hpp"
#include "input/key_reader.hpp"
#include "tally/summaries/squid/digest.hpp"
#include "tally/summaries/squid/key.hpp"
#include "text/output.hpp"

// The actions of `tally squid`, and what they share.

namespace tally::cli {

Run declare_squid_build(CommandLine app);
Run declare_squid_fetch(CommandLine app);
Run declare_squid_query(CommandLine app);
Run declare_squid_info(CommandLine app);

/// For `info --json` and `build --json`.
Json digest_to_json(const SquidDigest& digest);

/// The URLs to insert or to look up.
struct UrlOptions {
  InputOptions input;
  bool as_is = false;  ///< do not convert them as Squid does
};

inline void add_urls(CommandLine app, UrlOptions& options) {
  add_text_input_options(app, options.input);
  app.add_flag("--as-is", options.as_is, R"(
      Use the URLs unchanged, without converting them as Squid does (host in lower case, no port 80, ...)
      )");
}

/// Reads all URLs and calls use(url, key). Returns their number.
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

}  // namespace tally::cli
