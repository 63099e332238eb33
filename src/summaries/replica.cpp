#include "tally/summaries/replica.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "summaries/apply.hpp"
#include "tally/summaries/delta.hpp"

namespace tally {

SummaryReplica::SummaryReplica(const SummaryTerms& terms, std::string publisher)
    : terms_(terms), publisher_(std::move(publisher)) {}

ApplyResult SummaryReplica::apply(std::span<const std::byte> message) {
  return apply(read_summary_message(message));
}

ApplyResult SummaryReplica::apply(const SummaryMessage& message) {
  if (!publisher_.empty() && message.publisher != publisher_) {
    throw std::invalid_argument("SummaryReplica: publisher is '" + std::string(message.publisher) +
                                "'; must be '" + publisher_ + "', the publisher of this copy");
  }
  require_authentic(terms_, message);
  require_terms(terms_, message.layout, message.publisher);
  if (message.kind == SummaryMessageKind::request) return ApplyResult::unchanged;
  std::string publisher(message.publisher);
  const ApplyResult result = detail::apply_message(
      message, status_, table_ ? &table_->layout() : nullptr, [&]() -> SummaryTable& { return *table_; },
      [&]() -> SummaryTable& {
        SummaryTable table(message.layout);
        SummaryPositions positions(message.layout);
        table_ = std::move(table);
        positions_ = std::move(positions);
        return *table_;
      });
  publisher_ = std::move(publisher);
  layout_ = message.layout;
  return result;
}

bool SummaryReplica::contains(Hash128 digest) const noexcept {
  if (!table_) return false;
  std::array<std::uint64_t, max_num_hashes> positions;
  positions_->find(digest, positions.data());
  const std::span<const std::uint64_t> own(positions.data(), positions_->num_hashes());
  const auto* const dleft = std::get_if<DLeftShape>(&table_->layout().shape);
  if (dleft == nullptr) {
    return std::all_of(own.begin(), own.end(), [&](std::uint64_t bit) { return table_->get(bit) != 0; });
  }
  const std::uint64_t mask = (std::uint64_t{1} << dleft->remainder_bits) - 1;
  return std::any_of(own.begin(), own.end(), [&](std::uint64_t position) {
    const std::uint64_t first = positions_->bucket_of(position) * dleft->cells_per_bucket;
    const std::uint32_t remainder = positions_->remainder_of(position);
    for (std::uint64_t cell = first; cell < first + dleft->cells_per_bucket; ++cell) {
      if ((table_->get(cell) & mask) == remainder) return true;
    }
    return false;
  });
}

double SummaryReplica::estimated_false_positive_rate() const {
  return table_ ? summary_false_positive_rate(table_->layout(), status_.num_nonzero) : 0;
}

std::vector<std::byte> SummaryReplica::request(SummaryTime now) const {
  if (!layout_) return {};
  return request_message({publisher_, status_.newest, status_.digest, now, signing_key(terms_)}, *layout_);
}

double summary_false_positive_rate(const SummaryLayout& layout, std::uint64_t num_nonzero) {
  const auto held = static_cast<double>(num_nonzero);
  if (const auto* const dleft = std::get_if<DLeftShape>(&layout.shape)) {
    return std::min(1.0, held / dleft->fingerprint_space().num_fingerprints());
  }
  return std::pow(held / static_cast<double>(layout.num_units()), layout.num_hashes());
}

}  // namespace tally
