#include "node/node_api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <stdexcept>
#include <utility>

#include "node/node_key.hpp"
#include "node/status_json.hpp"
#include "text/hex_digit.hpp"
#include "text/json.hpp"
#include "text/json_member.hpp"
#include "text/key_json.hpp"
#include "text/shortened.hpp"

namespace tally::cli {
namespace {

constexpr std::string_view prometheus_text = "text/plain; version=0.0.4; charset=utf-8";

HttpResponse json_response(const Json& json, unsigned status = 200) {
  return {status, "application/json", json.dump() + "\n"};
}

/// "host" of "host:80" and "[::1]:80".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == host.npos ? std::string_view() : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return small;
}

bool is_json(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return lower(type) == "application/json";
}

std::string bytes_of_hex(std::string_view text) {
  const auto digit = [&](char c) {
    const int value = value_of_hex_digit(c);
    if (value < 0) throw std::invalid_argument(fmt::format("'{}' is not hexadecimal", shortened(text)));
    return value;
  };
  if (text.size() % 2 != 0)
    throw std::invalid_argument(fmt::format("'{}' has an odd number of hexadecimal digits", shortened(text)));
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes += static_cast<char>(16 * digit(text[i]) + digit(text[i + 1]));
  return bytes;
}

}  // namespace

bool NodeApi::is_token(std::string_view text) const noexcept {
  const std::string_view right = options_.token;
  unsigned char differs = text.size() != right.size();
  for (std::size_t i = 0; i < text.size() && i < right.size(); ++i)
    differs = static_cast<unsigned char>(differs | (text[i] ^ right[i]));
  return differs == 0;
}

struct NodeApi::Route {
  std::string_view method;
  std::string_view path;
  HttpResponse (NodeApi::*answer)(const HttpRequest& request, Nanoseconds now);
};

std::span<const NodeApi::Route> NodeApi::routes() {
  static constexpr std::array<Route, 11> all = {
      {{"GET", "/who-has", &NodeApi::who_has},
       {"POST", "/keys", &NodeApi::insert_keys},
       {"DELETE", "/keys", &NodeApi::remove_keys},
       {"POST", "/longest-prefix", &NodeApi::longest_prefix},
       {"POST", "/false-positives", &NodeApi::report_false_positives},
       {"POST", "/publish", &NodeApi::publish},
       {"POST", "/loaded", &NodeApi::loaded},
       {"GET", "/peers", &NodeApi::peers},
       {"GET", "/metrics", &NodeApi::metrics},
       {"GET", "/health", &NodeApi::health},
       {"GET", "/ready", &NodeApi::readiness}}};
  return all;
}

const NodeApi::Route* NodeApi::route_of(const HttpRequest& request) {
  const auto found = std::ranges::find_if(routes(), [&](const Route& route) {
    return route.path == request.path && route.method == request.method;
  });
  return found == routes().end() ? nullptr : &*found;
}

std::string NodeApi::methods_of(std::string_view path) {
  std::string methods;
  for (const Route& route : routes()) {
    if (route.path != path) continue;
    if (!methods.empty()) methods += ", ";
    methods += route.method;
    if (route.method == "GET") methods += ", HEAD";
  }
  return methods;
}

HttpResponse NodeApi::refuse(unsigned status, std::string_view why) {
  ++num_requests_;
  return refused(status, why);
}

HttpResponse NodeApi::refused(unsigned status, std::string_view why) {
  ++num_refused_;
  return json_response(Json{{"error", why}}, status);
}

std::optional<HttpResponse> NodeApi::refusal_of(const HttpRequest& header) {
  if (!header.is_local)
    if (auto of_stranger = refusal_of_stranger(header)) return of_stranger;
  const std::string methods = methods_of(header.path);
  if (methods.empty())
    return refuse(
        404, fmt::format("there is no '{}'; there are /who-has, /keys, /longest-prefix, /false-positives, "
                         "/publish, /loaded, /peers, /metrics, /health and /ready",
                         shortened(header.path)));
  if (route_of(header) == nullptr) {
    HttpResponse response = refuse(
        405, fmt::format("{} does not take {}; give {}", header.path, shortened(header.method), methods));
    response.allow = methods;
    return response;
  }
  if (header.has_body && !is_json(header.content_type))
    return refuse(415, fmt::format("the Content-Type is '{}'; must be application/json",
                                   shortened(header.content_type)));
  return std::nullopt;
}

std::optional<HttpResponse> NodeApi::refusal_of_stranger(const HttpRequest& header) {
  if (has_token()) {
    constexpr std::string_view bearer = "Bearer ";
    const std::string_view given = header.authorization;
    if (!given.starts_with(bearer) || !is_token(given.substr(bearer.size())))
      return refuse(401, "the token is missing or wrong; give Authorization: Bearer TOKEN");
  } else if (!is_known_host(header.host)) {
    return refuse(421, fmt::format("the Host is '{}'; must be {}, unless the node has an --api-token-file",
                                   shortened(header.host), fmt::join(options_.hosts, " or ")));
  }
  const std::string& site = header.fetch_site;
  if (!header.origin.empty() || !(site.empty() || site == "none" || site == "same-origin"))
    return refuse(403,
                  "this is a request of a page in a browser (Origin, Sec-Fetch-Site); only other programs "
                  "may send one");
  return std::nullopt;
}

HttpResponse NodeApi::answer(const HttpRequest& request, Nanoseconds now) {
  ++num_requests_;
  try {
    return (this->*route_of(request)->answer)(request, now);
  } catch (const std::invalid_argument& error) {
    return refused(400, error.what());
  } catch (const std::bad_alloc&) {
    return refused(503, "there is not enough memory for this request; send fewer keys at once");
  }
}

bool NodeApi::is_known_host(std::string_view host) const {
  const std::string name = lower(without_port(host));
  return std::ranges::any_of(options_.hosts, [&](const std::string& own) { return lower(own) == name; });
}

Hash128 NodeApi::digest_of(std::string_view key) const {
  if (const auto digest = digest_of_key(node_.hasher(), options_.key_type, key)) return *digest;
  throw std::invalid_argument("the key " + why_refused(options_.key_type, key));
}

std::vector<Hash128> NodeApi::keys_of(const HttpRequest& request, std::string_view name) const {
  const std::string hex_name = std::string(name) + "_hex";
  std::vector<Hash128> digests;
  std::vector<Hash128> of_hex;
  const std::array<JsonMember, 2> members = {{
      {name, [&](std::string_view text) { digests.push_back(digest_of(text)); }},
      {hex_name, [&](std::string_view text) { of_hex.push_back(digest_of(bytes_of_hex(text))); }},
  }};
  if (parse_members(request.body, members) == 0)
    throw std::invalid_argument(fmt::format(
        "the body must be an object with a list '{}', or '{}' of hexadecimal digits", name, hex_name));
  if (digests.empty()) return of_hex;
  digests.insert(digests.end(), of_hex.begin(), of_hex.end());
  return digests;
}

HttpResponse NodeApi::who_has(const HttpRequest& request, Nanoseconds) {
  if (request.query.size() != 1 || (request.query[0].first != "key" && request.query[0].first != "key_hex"))
    throw std::invalid_argument("give one parameter: ?key= or ?key_hex=");
  const auto& [name, value] = request.query[0];
  const std::string key = name == "key" ? value : bytes_of_hex(value);
  const std::vector<std::string_view> names = node_.peers().ask(digest_of(key));
  Json json = key_json(key);
  json["peers"] = names;
  return json_response(json);
}

HttpResponse NodeApi::insert_keys(const HttpRequest& request, Nanoseconds) {
  return change_keys(request, true);
}
HttpResponse NodeApi::remove_keys(const HttpRequest& request, Nanoseconds) {
  return change_keys(request, false);
}

HttpResponse NodeApi::change_keys(const HttpRequest& request, bool inserts) {
  const std::vector<Hash128> digests = keys_of(request, "keys");
  std::vector<std::size_t> indices;
  NodeDirectory& directory = node_.directory();
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const std::span one = std::span(digests).subspan(i, 1);
    if ((inserts ? directory.insert(one) : directory.remove(one)) > 0) indices.push_back(i);
  }
  Json json{{inserts ? "num_inserted" : "num_removed", digests.size() - indices.size()},
            {"num_refused", indices.size()}};
  if (indices.empty()) return json_response(json);
  ++num_refused_;
  json["error"] = inserts ? "the filter is full; start the node with larger --keys"
                          : "the refused keys are certainly absent; remove only keys that were inserted here";
  // A list of millions as Json values would take 40 bytes per number.
  std::string text = json.dump();
  text.pop_back();
  fmt::format_to(std::back_inserter(text), ",\"refused\":[{}]}}\n", fmt::join(indices, ","));
  return {inserts ? 507U : 409U, "application/json", std::move(text)};
}

HttpResponse NodeApi::longest_prefix(const HttpRequest& request, Nanoseconds) {
  const std::vector<Hash128> blocks = keys_of(request, "blocks");
  const SummarySet& copies = node_.peers().copies();
  Json prefixes = Json::array();
  for (const SummarySet::Prefix& prefix : node_.peers().longest_prefix(blocks))
    prefixes.push_back(Json{{"peer", copies.name(prefix.peer)},
                            {"num_blocks", std::uint64_t{prefix.num_blocks}},
                            {"false_positive_rate", copies.estimated_false_positive_rate(prefix.peer)}});
  return json_response(Json{{"num_blocks", std::uint64_t{blocks.size()}}, {"prefixes", prefixes}});
}

HttpResponse NodeApi::report_false_positives(const HttpRequest& request, Nanoseconds) {
  std::optional<std::string> name;
  std::uint64_t num_keys = 1;
  const std::array<JsonMember, 2> members = {
      {{"peer", &name}, {"num_keys", JsonMember::Count{&num_keys, max_false_positives_reported}}}};
  (void)parse_members(request.body, members);
  if (!name) throw std::invalid_argument("the body must be an object with the name of a 'peer'");
  if (!node_.peers().report_false_positives(*name, num_keys))
    return refused(404, fmt::format("there is no peer '{}'; /peers has their names", shortened(*name)));
  return json_response(Json{{"peer", *name}, {"num_keys", num_keys}});
}

HttpResponse NodeApi::loaded(const HttpRequest& request, Nanoseconds now) {
  node_.own().announce();
  return publish(request, now);
}

HttpResponse NodeApi::publish(const HttpRequest&, Nanoseconds) {
  node_.own().publish_now();
  return json_response(Json{{"is_publishing", node_.own().is_publishing()}});
}

HttpResponse NodeApi::peers(const HttpRequest&, Nanoseconds now) {
  Json json = node_json(node_);
  Json all = Json::array();
  for (const FollowedPeers::Peer& peer : node_.peers().all(now)) all.push_back(peer_json(peer));
  json["peers"] = all;
  return json_response(json);
}

HttpResponse NodeApi::metrics(const HttpRequest&, Nanoseconds now) {
  return {200, std::string(prometheus_text), metrics_text(*this, now)};
}

HttpResponse NodeApi::health(const HttpRequest&, Nanoseconds) {
  return json_response(Json{{"status", "ok"}});
}

HttpResponse NodeApi::readiness(const HttpRequest&, Nanoseconds) {
  const bool is_connected = node_.bus().is_up();
  const bool is_publishing = node_.own().is_publishing();
  const Json json{{"is_connected", is_connected}, {"is_publishing", is_publishing}};
  return json_response(json, is_connected && is_publishing ? 200 : 503);
}

}  // namespace tally::cli
