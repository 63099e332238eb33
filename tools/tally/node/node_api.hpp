#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/key_type.hpp"
#include "node/http_handler.hpp"
#include "node/summary_node.hpp"

namespace tally::cli {

/// The HTTP interface of a node: who has a key, changes of keys, peers, longest prefixes, metrics.
///
/// A page in a browser must change nothing and read no answer: over TCP a request with an Origin, or a Sec-Fetch-Site of another
/// page, is refused, bodies must be application/json, which a page cannot send elsewhere without being asked, and the Host must be
/// this machine's or the one that it listens at. With a token every request over TCP needs it, and any Host will do.
class NodeApi final : public HttpHandler {
 public:
  struct Options {
    KeyType key_type = KeyType::text;
    std::string token;  ///< empty: none is needed
    /// Names of this machine.
    std::vector<std::string> hosts = {"localhost", "127.0.0.1", "::1"};
  };

  NodeApi(Options options, SummaryNode& node) : options_(std::move(options)), node_(node) {}

  std::optional<HttpResponse> refusal_of(const HttpRequest& header) override;
  HttpResponse answer(const HttpRequest& request, Nanoseconds now) override;
  HttpResponse refuse(unsigned status, std::string_view why) override;

  bool has_token() const noexcept { return !options_.token.empty(); }
  /// Without telling by its time how much of it is right.
  bool is_token(std::string_view text) const noexcept;

 private:
  struct Route;
  static std::span<const Route> routes();
  /// Null if the path, or the method of it, does not exist.
  static const Route* route_of(const HttpRequest& request);
  /// "POST, DELETE"; empty if there is no such path.
  static std::string methods_of(std::string_view path);

  HttpResponse who_has(const HttpRequest& request, Nanoseconds now);
  HttpResponse insert_keys(const HttpRequest& request, Nanoseconds now);
  HttpResponse remove_keys(const HttpRequest& request, Nanoseconds now);
  HttpResponse longest_prefix(const HttpRequest& request, Nanoseconds now);
  HttpResponse report_false_positives(const HttpRequest& request, Nanoseconds now);
  HttpResponse publish(const HttpRequest& request, Nanoseconds now);
  HttpResponse loaded(const HttpRequest& request, Nanoseconds now);
  HttpResponse peers(const HttpRequest& request, Nanoseconds now);
  HttpResponse metrics(const HttpRequest& request, Nanoseconds now);
  HttpResponse health(const HttpRequest& request, Nanoseconds now);
  HttpResponse readiness(const HttpRequest& request, Nanoseconds now);

  HttpResponse change_keys(const HttpRequest& request, bool inserts);
  /// Counts it too, for a request that is counted already.
  HttpResponse refused(unsigned status, std::string_view why);
  /// Of a request over TCP.
  std::optional<HttpResponse> refusal_of_stranger(const HttpRequest& header);
  bool is_known_host(std::string_view host) const;
  /// The digests of the texts in the list `name`, then of those in hexadecimal digits in `name`_hex.
  std::vector<Hash128> keys_of(const HttpRequest& request, std::string_view name) const;
  Hash128 digest_of(std::string_view key) const;

  Options options_;
  SummaryNode& node_;
  std::uint64_t num_requests_ = 0;
  std::uint64_t num_refused_ = 0;

  friend std::string metrics_text(const NodeApi& api, Nanoseconds now);
};

/// In the text format of Prometheus, version 0.0.4.
std::string metrics_text(const NodeApi& api, Nanoseconds now);

}  // namespace tally::cli
