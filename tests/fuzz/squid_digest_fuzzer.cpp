// Any bytes as what a Squid sends: refused with a FormatError, or a digest that writes the same bits again and
// works.

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "tally/summaries/squid/digest.hpp"

namespace {

using namespace tally;

void require(bool law) {
  if (!law) std::abort();
}

void try_digest(std::span<const std::byte> bytes) {
  try {
    SquidDigest digest = SquidDigest::from_bytes(bytes);
    const std::vector<std::byte> again = digest.to_bytes();
    require(again.size() == bytes.size());
    // All but the versions and what is reserved.
    require(std::memcmp(again.data() + 4, bytes.data() + 4, 18) == 0);
    require(std::memcmp(again.data() + 128, bytes.data() + 128, again.size() - 128) == 0);
    require(SquidDigest::from_bytes(again) == digest);
    const SquidKey key(SquidMethod::get, "http://www.example.org/");
    const bool passed = digest.may_contain(key);
    require(digest.insert(key) == !passed);
    require(digest.may_contain(key));
    const double rate = digest.estimated_false_positive_rate();
    require(rate > 0 && rate <= 1);
  } catch (const FormatError& error) {
    require(error.offset() <= bytes.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try_digest(bytes);
  // The same with a size that is right.
  if (size >= SquidDigest::header_bytes && std::to_integer<int>(bytes[20]) != 0) {
    std::vector<std::byte> sized(bytes.begin(), bytes.end());
    const std::uint64_t mask_size = size - SquidDigest::header_bytes;
    const std::uint64_t capacity = mask_size * 8 / std::to_integer<std::uint64_t>(sized[20]);
    for (std::size_t i = 0; i < 4; ++i) {
      sized[4 + i] = static_cast<std::byte>(capacity >> (24 - 8 * i) & 0xFF);
      sized[16 + i] = static_cast<std::byte>(mask_size >> (24 - 8 * i) & 0xFF);
    }
    try_digest(sized);
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string url = squid_url(text);
  require(url.size() <= text.size() + 64);
  return 0;
}
