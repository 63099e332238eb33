#include "tally/summaries/terms.hpp"

#include <stdexcept>
#include <string>

#include "detail/text_of.hpp"

namespace tally {

namespace {

template <class Value>
void require_same(std::string_view publisher, std::string_view field, const Value& mine,
                  const Value& theirs) {
  if (mine == theirs) return;
  std::string message("summary of '");
  message.append(publisher).append("': ").append(field).append(" is ").append(detail::text_of(theirs));
  message.append(" there and ").append(detail::text_of(mine)).append(" here; start both with the same");
  throw std::invalid_argument(message);
}

void require_at_most(std::string_view publisher, std::string_view field, std::uint64_t value,
                     std::uint64_t most, std::string_view limit) {
  if (value <= most) return;
  detail::throw_parameter_error("summary of '" + std::string(publisher) + "'", field, value,
                                "at most " + std::to_string(most) + " (" + std::string(limit) + ")");
}

}  // namespace

void require_authentic(const SummaryTerms& terms, const SummaryMessage& message) {
  const bool is_old = message.format_version == 1;
  if (!terms.key || (is_old && terms.takes_unsigned)) return;
  if (message.is_signed_with(*terms.key)) return;
  const std::string subject = "summary of '" + std::string(message.publisher) + "': ";
  if (message.mac.empty()) {
    throw NotAuthentic(subject +
                       "the message has no MAC, because its sender has no key or writes format version 1; "
                       "start both with the same key");
  }
  throw NotAuthentic(subject + "the MAC does not match; the message is forged, or the keys differ");
}

void require_terms(const SummaryTerms& terms, const SummaryLayout& layout, std::string_view publisher) {
  require_same(publisher, "hash", name_of(terms.hasher.id()), name_of(layout.hash_id));
  require_same(publisher, layout.hash_id == HashId::xxh3_128 ? "seed" : "key id",
               terms.hasher.seed_or_key_id(), layout.seed_or_key_id);
  SummaryLayout mine = layout;
  mine.scheme_id = layout.has_cells() ? terms.cells_scheme_id : terms.bits_scheme_id;
  require_same(publisher, "scheme", mine.scheme_name(), layout.scheme_name());
  require_at_most(publisher, "num_hashes", layout.num_hashes(), terms.max_num_hashes, "max_num_hashes");
  require_at_most(publisher, "number of bytes", layout.num_bytes(), terms.max_bytes_per_peer,
                  "max_bytes_per_peer");
}

}  // namespace tally
