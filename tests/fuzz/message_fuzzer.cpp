// Any bytes: refused with a FormatError, or a message that followers take, refuse by its terms or put aside. The input is
// tried as it is, with both checksums repaired, and signed as well. Followers with a key take what is signed and nothing else. A replica and a set, at a known version already, must agree, and
// what a full copy says must come out again.

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <vector>

#include "file_bytes.hpp"
#include "sample_summaries.hpp"
#include "tally/summaries/delta.hpp"
#include "tally/summaries/replica.hpp"
#include "tally/summaries/set.hpp"

namespace {

using namespace tally;

void require(bool law) {
  if (!law) std::abort();
}

const SummaryTerms terms{
    .hasher = 42, .max_bytes_per_peer = 1 << 20, .max_total_bytes = 1 << 21, .max_peers = 3};

SummaryTerms signed_terms() {
  SummaryTerms own = terms;
  own.key = test::sample_key();
  return own;
}

/// With a MAC in place of what was there, if the message has one.
void sign(std::vector<std::byte>& bytes) {
  constexpr std::size_t mac_bytes = 16;
  if (bytes.size() < test::header_bytes + mac_bytes) return;
  test::set_field<std::uint8_t>(bytes, 85, mac_bytes);
  const std::span all(bytes);
  const MessageMac mac =
      test::sample_key().mac(all.first(test::header_bytes),
                             all.subspan(test::header_bytes, bytes.size() - test::header_bytes - mac_bytes));
  std::ranges::copy(mac, bytes.end() - mac_bytes);
}

// Whether a follower takes it, but not what a follower without a key would refuse as well.
void check_signature(const SummaryMessage& message) {
  SummaryReplica replica(signed_terms());
  SummarySet set(signed_terms());
  const bool is_signed = message.is_signed_with(test::sample_key());
  const auto is_refused = [&](auto& follower) {
    try {
      (void)follower.apply(message);
    } catch (const NotAuthentic&) {
      return true;
    } catch (const std::invalid_argument&) {
    }
    return false;
  };
  require(is_refused(replica) == !is_signed);
  require(is_refused(set) == !is_signed);
  require(is_signed || (replica.status() == SummaryStatus{} && set.num_peers() == 0));
}

std::vector<test::MessageBytes> first_versions() {
  std::vector<test::MessageBytes> versions;
  for (auto& [name, bytes] : test::sample_messages()) {
    if (name == "bits-full-of-few" || name == "cells-full-of-few") versions.push_back(bytes);
  }
  return versions;
}

// Nothing where the terms refuse it.
template <class Follower>
std::optional<SummaryStatus> status_after(Follower& follower, const SummaryMessage& message) {
  try {
    if constexpr (std::is_same_v<Follower, SummaryReplica>) {
      (void)follower.apply(message);
      return follower.status();
    } else {
      const SummarySet::Applied applied = follower.apply(message);
      return follower.num_peers() == 0 ? SummaryStatus{} : follower.status(applied.peer);
    }
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

void check(const std::vector<std::byte>& bytes) {
  try {
    const SummaryMessage message = read_summary_message(bytes);
    require(summary_message_bytes(bytes) == bytes.size());
    check_signature(message);
    const std::vector<std::byte> old = in_format_version_1(bytes);
    require(old.empty() == (message.kind == SummaryMessageKind::stored));
    require(old.empty() || read_summary_message(old).digest == message.digest);
    static const std::vector<test::MessageBytes> versions = first_versions();
    for (std::size_t version = 0; version <= versions.size(); ++version) {
      SummaryReplica replica(terms);
      SummarySet set(terms);
      if (version < versions.size() && message.publisher == "node-1") {
        (void)replica.apply(versions[version]);
        (void)set.apply(versions[version]);
      }
      const auto by_replica = status_after(replica, message);
      const auto by_set = status_after(set, message);
      require(by_replica.has_value() == by_set.has_value());
      // A set makes nobody a peer who has sent no full copy.
      if (!by_replica || (set.num_peers() == 0 && message.kind != SummaryMessageKind::full)) continue;
      require(by_replica->held == by_set->held && by_replica->digest == by_set->digest);
      for (std::uint64_t key = 0; key < 20; ++key) {
        require(replica.may_contain(key) == !set.who_may_have(key).empty());
      }
      if (message.kind != SummaryMessageKind::full || by_replica->held != message.version) continue;
      require(digest_of(*replica.table()) == message.digest);
      const std::vector<std::byte> again = full_message(
          {message.publisher, message.version, message.digest, message.published_at}, *replica.table());
      SummaryReplica second(terms);
      require(second.apply(again) == ApplyResult::applied);
      require(second.status().digest == message.digest);
    }
  } catch (const FormatError& error) {
    require(error.offset() <= bytes.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  std::vector<std::byte> bytes(input.begin(), input.end());
  check(bytes);
  if (bytes.size() >= test::header_bytes) {
    test::repair_checksums(bytes);
    check(bytes);
    sign(bytes);
    test::repair_checksums(bytes);
    check(bytes);
  }
  return 0;
}
