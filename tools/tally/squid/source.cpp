#include "squid/source.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <fmt/core.h>

#include "squid/digest_server.hpp"
#include "squid/http_client.hpp"

namespace tally::cli {

namespace {

constexpr std::uint64_t max_bytes = SquidDigest::header_bytes + SquidShape::max_num_bits / 8;
constexpr std::size_t chunk_bytes = std::size_t{1} << 16;

std::vector<std::byte> read_file_bytes(const std::string& path) {
  const int file = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), path);
  std::vector<std::byte> bytes;
  ssize_t got = 1;
  while (got > 0 && bytes.size() <= max_bytes) {
    const std::size_t size = bytes.size();
    bytes.resize(size + chunk_bytes);
    got = ::read(file, bytes.data() + size, chunk_bytes);
    bytes.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  const int error = errno;
  if (file != STDIN_FILENO) ::close(file);
  if (got < 0) throw std::system_error(error, std::generic_category(), path);
  return bytes;
}

}  // namespace

std::vector<std::byte> read_squid_bytes(const std::string& source) {
  if (!is_http_url(source)) return read_file_bytes(source);
  HttpUrl url = parse_http_url(source);
  if (url.target.empty() || url.target == "/") url.target = squid_digest_path;
  return http_get(url, "application/cache-digest", {.max_body_bytes = max_bytes});
}

SquidDigest open_squid_digest(const std::string& source) {
  const std::vector<std::byte> bytes = read_squid_bytes(source);
  try {
    return SquidDigest::from_bytes(bytes);
  } catch (const FormatError& error) {
    throw FormatError(error.reason(), error.offset(), source + " as a Squid digest");
  }
}

}  // namespace tally::cli
