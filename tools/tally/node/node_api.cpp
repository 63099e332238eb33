#include "node/node_api.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <utility>

#include "node/node_key.hpp"
#include "node/status_json.hpp"
#include "text/hex_digit.hpp"
#include "text/key_json.hpp"
#include "text/numbers.hpp"

namespace tally::cli {
namespace {

constexpr std::string_view prometheus_text = "text/plain; version=0.0.4; charset=utf-8";

HttpResponse json_response(const Json& json, unsigned status = 200) {
  return {status, "application/json", json.dump() + "\n"};
}

HttpResponse error_response(unsigned status, std::string_view why) {
  return json_response(Json{{"error", why}}, status);
}

/// "host" of "host:80" and "[::1]:80".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == host.npos ? std::string_view() : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool is_json(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  std::ranges::transform(type, type.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return type == "application/json";
}

std::string bytes_of_hex(std::string_view text) {
  const auto digit = [&](char c) {
    const int value = value_of_hex_digit(c);
    if (value < 0) throw std::invalid_argument(fmt::format("'{}' is not hexadecimal", text));
    return value;
  };
  if (text.size() % 2 != 0)
    throw std::invalid_argument(fmt::format("'{}' has an odd number of digits", text));
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

HttpResponse NodeApi::answer(const HttpRequest& request, Nanoseconds now) {
  ++num_requests_;
  const auto counted = [&](HttpResponse response) {
    num_refused_ += response.status >= 400 && response.status != 503;
    return response;
  };
  if (auto refused = refusal_of(request)) return counted(std::move(*refused));
  struct Route {
    std::string_view method;
    std::string_view path;
    std::function<HttpResponse()> answer;
  };
  const std::array<Route, 11> routes = {{
      {"GET", "/who-has", [&] { return who_has(request); }},
      {"POST", "/keys", [&] { return change_keys(request, true); }},
      {"DELETE", "/keys", [&] { return change_keys(request, false); }},
      {"POST", "/longest-prefix", [&] { return longest_prefix(request); }},
      {"POST", "/false-positives", [&] { return report_false_positives(request); }},
      {"POST", "/publish", [&] { return publish(false); }},
      {"POST", "/loaded", [&] { return publish(true); }},
      {"GET", "/peers", [&] { return peers(now); }},
      {"GET", "/metrics",
       [&] {
         return HttpResponse{200, std::string(prometheus_text), metrics_text(*this, now)};
       }},
      {"GET", "/health",
       [&] {
         return json_response(Json{{"status", "ok"}});
       }},
      {"GET", "/ready", [&] { return readiness(); }},
  }};
  bool is_path = false;
  for (const Route& route : routes) {
    if (route.path != request.path) continue;
    is_path = true;
    if (route.method != request.method) continue;
    try {
      return counted(route.answer());
    } catch (const std::invalid_argument& error) {
      return counted(error_response(400, error.what()));
    } catch (const std::bad_alloc&) {
      return error_response(503, "there is not enough memory for this request");
    }
  }
  if (is_path)
    return counted(error_response(405, fmt::format("{} does not take {}", request.path, request.method)));
  return counted(error_response(
      404,
      "not found; there are /who-has, /keys, /longest-prefix, /false-positives, /publish, /loaded, /peers, "
      "/metrics, /health and /ready"));
}

std::optional<HttpResponse> NodeApi::refusal_of(const HttpRequest& request) const {
  if (!request.is_local) {
    if (!options_.token.empty()) {
      constexpr std::string_view bearer = "Bearer ";
      const std::string_view given = request.authorization;
      if (!given.starts_with(bearer) || !is_token(given.substr(bearer.size())))
        return error_response(401, "the token is missing or wrong: Authorization: Bearer TOKEN");
    }
    if (!is_known_host(request.host)) return error_response(421, "the Host is not that of this server");
    if (!request.origin.empty()) return error_response(403, "pages of a browser are refused");
  }
  if (!request.body.empty() && !is_json(request.content_type))
    return error_response(415, "the Content-Type must be application/json");
  return std::nullopt;
}

bool NodeApi::is_known_host(std::string_view host) const {
  const std::string_view name = without_port(host);
  return name == "localhost" || name == "127.0.0.1" || name == "::1" ||
         std::ranges::find(options_.hosts, name) != options_.hosts.end();
}

Hash128 NodeApi::digest_of(std::string_view key) const {
  if (const auto digest = digest_of_key(node_.hasher(), options_.key_type, key)) return *digest;
  throw std::invalid_argument("the key " + why_refused(options_.key_type, key));
}

std::vector<Hash128> NodeApi::keys_of(const HttpRequest& request, std::string_view name) const {
  const Json body = Json::parse(request.body);
  const std::string hex_name = std::string(name) + "_hex";
  std::vector<Hash128> digests;
  bool any = false;
  for (const auto& [member, is_hex] : {std::pair{std::string(name), false}, std::pair{hex_name, true}}) {
    const Json* const list = body.find(member);
    if (list == nullptr) continue;
    any = true;
    if (list->get_if<Json::Array>() == nullptr)
      throw std::invalid_argument(fmt::format("'{}' must be a list of texts", member));
    digests.reserve(digests.size() + list->elements().size());
    for (const Json& element : list->elements()) {
      const auto* const text = element.get_if<std::string>();
      if (text == nullptr) throw std::invalid_argument(fmt::format("'{}' must be a list of texts", member));
      digests.push_back(digest_of(is_hex ? bytes_of_hex(*text) : *text));
    }
  }
  if (!any)
    throw std::invalid_argument(fmt::format(
        "the body must be an object with a list '{}', or '{}' of hexadecimal digits", name, hex_name));
  return digests;
}

HttpResponse NodeApi::who_has(const HttpRequest& request) {
  const auto text = request.parameter("key");
  const auto hex = request.parameter("key_hex");
  if (text.has_value() == hex.has_value()) throw std::invalid_argument("give either ?key= or ?key_hex=");
  const std::string key = text ? std::string(*text) : bytes_of_hex(*hex);
  const std::vector<std::string_view> names = node_.peers().ask(digest_of(key));
  Json json = key_json(key);
  json["peers"] = names;
  return json_response(json);
}

HttpResponse NodeApi::change_keys(const HttpRequest& request, bool inserts) {
  const std::vector<Hash128> digests = keys_of(request, "keys");
  const std::uint64_t num_refused =
      inserts ? node_.directory().insert(digests) : node_.directory().remove(digests);
  const std::uint64_t num_done = digests.size() - num_refused;
  // 507: a full filter; 409: keys that were certainly absent.
  return json_response(
      Json{{inserts ? "num_inserted" : "num_removed", num_done}, {"num_refused", num_refused}},
      num_refused == 0 ? 200
      : inserts        ? 507
                       : 409);
}

HttpResponse NodeApi::longest_prefix(const HttpRequest& request) {
  const std::vector<Hash128> blocks = keys_of(request, "blocks");
  const SummarySet& copies = node_.peers().copies();
  Json prefixes = Json::array();
  for (const SummarySet::Prefix& prefix : copies.longest_prefix(blocks))
    prefixes.push_back(Json{{"peer", copies.name(prefix.peer)},
                            {"num_blocks", std::uint64_t{prefix.num_blocks}},
                            {"false_positive_rate", copies.estimated_false_positive_rate(prefix.peer)}});
  return json_response(Json{{"num_blocks", std::uint64_t{blocks.size()}}, {"prefixes", prefixes}});
}

HttpResponse NodeApi::report_false_positives(const HttpRequest& request) {
  const Json body = Json::parse(request.body);
  const Json* const peer = body.find("peer");
  const Json* const number = body.find("num_keys");
  const auto* const name = peer == nullptr ? nullptr : peer->get_if<std::string>();
  if (name == nullptr) throw std::invalid_argument("the body must be an object with the name of a 'peer'");
  const std::uint64_t num_keys =
      number == nullptr ? 1 : parse_count(number->dump(), {0, max_false_positives_reported});
  if (!node_.peers().report_false_positives(*name, num_keys))
    return error_response(404, fmt::format("there is no peer '{}'", *name));
  return json_response(Json{{"peer", *name}, {"num_keys", num_keys}});
}

HttpResponse NodeApi::publish(bool announces) {
  if (announces) node_.own().announce();
  node_.own().publish_now();
  return json_response(Json{{"is_publishing", node_.own().is_publishing()}});
}

HttpResponse NodeApi::peers(Nanoseconds now) const {
  Json json = node_json(node_);
  Json all = Json::array();
  for (const FollowedPeers::Peer& peer : node_.peers().all(now)) all.push_back(peer_json(peer));
  json["peers"] = all;
  return json_response(json);
}

HttpResponse NodeApi::readiness() const {
  const bool is_connected = node_.bus().is_up();
  const bool is_publishing = node_.own().is_publishing();
  const Json json{{"is_connected", is_connected}, {"is_publishing", is_publishing}};
  return json_response(json, is_connected && is_publishing ? 200 : 503);
}

}  // namespace tally::cli
