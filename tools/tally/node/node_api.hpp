#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/key_type.hpp"
#include "node/http_message.hpp"
#include "node/summary_node.hpp"
#include "text/json.hpp"

namespace tally::cli {

/// The HTTP interface of a node: who has a key, changes of keys, peers, longest prefixes, metrics.
///
/// A page in a browser must not reach it: over TCP the Host must be this machine's or the one that it listens at, a request with an
/// Origin is refused, and bodies must be application/json, which a page cannot send elsewhere without being asked. With a token
/// every request over TCP needs it.
class NodeApi {
 public:
  struct Options {
    KeyType key_type = KeyType::text;
    std::string token;               ///< empty: none is needed
    std::vector<std::string> hosts;  ///< further names of this machine
  };

  NodeApi(Options options, SummaryNode& node) : options_(std::move(options)), node_(node) {}

  HttpResponse answer(const HttpRequest& request, Nanoseconds now);

  bool has_token() const noexcept { return !options_.token.empty(); }
  /// Without telling by its time how much of it is right.
  bool is_token(std::string_view text) const noexcept;

 private:
  HttpResponse who_has(const HttpRequest& request);
  HttpResponse change_keys(const HttpRequest& request, bool inserts);
  HttpResponse longest_prefix(const HttpRequest& request);
  HttpResponse report_false_positives(const HttpRequest& request);
  HttpResponse publish(bool announces);
  HttpResponse peers(Nanoseconds now) const;
  HttpResponse readiness() const;

  std::optional<HttpResponse> refusal_of(const HttpRequest& request) const;
  bool is_known_host(std::string_view host) const;
  /// The digests of the texts in member `name`, and in hexadecimal digits in `name`_hex.
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
