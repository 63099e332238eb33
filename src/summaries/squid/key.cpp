#include "tally/summaries/squid/key.hpp"

#include <arpa/inet.h>
#include <nettle/md5.h>

#include <algorithm>
#include <charconv>

namespace tally {

namespace {

std::array<std::byte, MD5_DIGEST_SIZE> md5_of(SquidMethod method, std::string_view url) noexcept {
  md5_ctx context;
  md5_init(&context);
  const auto method_byte = static_cast<std::uint8_t>(method);
  md5_update(&context, 1, &method_byte);
  md5_update(&context, url.size(), reinterpret_cast<const std::uint8_t*>(url.data()));
  std::array<std::byte, MD5_DIGEST_SIZE> md5{};
  md5_digest(&context, md5.size(), reinterpret_cast<std::uint8_t*>(md5.data()));
  return md5;
}

// Not std::tolower, which depends on the locale.
std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

int default_port(std::string_view scheme) noexcept {
  if (scheme == "http") return 80;
  if (scheme == "https") return 443;
  if (scheme == "ftp") return 21;
  return -1;
}

// "[2001:DB8:0::1]" -> "[2001:db8::1]"; anything that is not an address is unchanged.
std::string short_address(const std::string& host) {
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) != 1 ||
      inet_ntop(AF_INET6, &address, text.data(), text.size()) == nullptr) {
    return host;
  }
  return "[" + std::string(text.data()) + "]";
}

}  // namespace

SquidKey::SquidKey(SquidMethod method, std::string_view url) noexcept : SquidKey(md5_of(method, url)) {}

SquidKey::SquidKey(const std::array<std::byte, 16>& md5) noexcept : words_{} {
  for (std::size_t i = 0; i < md5.size(); ++i) {
    words_[i / 4] = words_[i / 4] << 8 | std::to_integer<std::uint32_t>(md5[i]);
  }
}

std::string squid_url(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == 0 || scheme_end == std::string_view::npos) return std::string(url);
  const std::string scheme = lower_case(url.substr(0, scheme_end));
  std::string_view rest = url.substr(scheme_end + 3);
  const std::size_t authority_end = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, authority_end);
  rest.remove_prefix(authority_end);

  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos)
    authority.remove_prefix(at + 1);
  // The last colon ends the host, unless it is within the brackets of an address.
  std::size_t host_end = authority.rfind(':');
  const std::size_t bracket = authority.rfind(']');
  if (host_end == std::string_view::npos || (bracket != std::string_view::npos && host_end < bracket)) {
    host_end = authority.size();
  }
  std::string host = lower_case(authority.substr(0, host_end));
  if (host.starts_with('[') && host.ends_with(']')) host = short_address(host);
  while (host.ends_with('.')) host.pop_back();

  std::string written = scheme + "://" + host;
  if (host_end < authority.size()) {
    const std::string_view digits = authority.substr(host_end + 1);
    int port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
      if (!digits.empty()) written.append(":").append(digits);
    } else if (port != default_port(scheme)) {
      written.append(":").append(std::to_string(port));
    }
  }
  if (!rest.starts_with('/')) written += '/';
  return written.append(rest);
}

}  // namespace tally
