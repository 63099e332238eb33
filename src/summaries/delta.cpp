#include "tally/summaries/delta.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "summaries/apply.hpp"
#include "summaries/message_writer.hpp"
#include "summaries/units.hpp"

namespace tally {

namespace {

auto each_of(const std::vector<UnitChange>& changes) {
  return [&changes](auto visit) {
    for (const UnitChange& change : changes) visit(change.unit, change.value);
  };
}

auto each_of(const detail::UnitView& units) {
  return [&units](auto visit) { units.for_each(visit); };
}

}  // namespace

SummaryDelta SummaryDelta::between(const SummaryTable& before, const SummaryTable& after) {
  if (before.layout() != after.layout()) {
    throw std::invalid_argument(
        "SummaryDelta: the two versions have different layouts; send a full copy of the newer one");
  }
  SummaryDelta delta{after.layout(), {}};
  const detail::UnitView old_units(before.layout(), before.words());
  const detail::UnitView new_units(after.layout(), after.words());
  for (std::uint64_t block = 0; block < new_units.num_blocks(); ++block) {
    detail::for_each_change_of_block(old_units, new_units, block,
                                     [&](std::uint64_t unit, std::uint32_t, std::uint32_t value) {
                                       delta.changes.push_back({unit, value});
                                     });
  }
  return delta;
}

std::uint64_t SummaryDelta::num_bytes() const {
  return detail::best_code(layout, each_of(changes)).payload_bytes;
}

std::vector<std::byte> delta_message(const SummaryEnvelope& envelope, std::uint64_t from_sequence,
                                     const SummaryDelta& delta) {
  detail::MessageBytes bytes(SummaryMessageKind::delta, envelope, delta.layout);
  bytes.put(detail::message::from_sequence_at, from_sequence);
  const auto each = each_of(delta.changes);
  return detail::message_of_changes(std::move(bytes), delta.layout, detail::best_code(delta.layout, each),
                                    each);
}

std::vector<std::byte> full_message(const SummaryEnvelope& envelope, const SummaryTable& table) {
  return detail::full_message_of(envelope, table.layout(), table.words());
}

std::uint64_t full_message_bytes(std::string_view publisher, const SummaryTable& table) {
  const detail::UnitView units(table.layout(), table.words());
  const detail::ChangesCode how = detail::best_code(table.layout(), each_of(units));
  return summary_header_bytes + publisher.size() +
         (detail::stays_words(table.layout(), how) ? table.words().size_bytes() : how.payload_bytes);
}

std::vector<std::byte> heartbeat_message(const SummaryEnvelope& envelope, const SummaryLayout& layout) {
  return detail::MessageBytes(SummaryMessageKind::heartbeat, envelope, layout)
      .finish(SummaryCoding::none, 0, 0);
}

std::vector<std::byte> stored_message(const SummaryEnvelope& envelope, const SummaryLayout& layout) {
  return detail::MessageBytes(SummaryMessageKind::stored, envelope, layout).finish(SummaryCoding::none, 0, 0);
}

std::vector<std::byte> request_message(const SummaryEnvelope& envelope, const SummaryLayout& layout) {
  return detail::MessageBytes(SummaryMessageKind::request, envelope, layout)
      .finish(SummaryCoding::none, 0, 0);
}

bool patch(SummaryTable& table, std::uint64_t& digest, const SummaryMessage& message) {
  if (message.coding == SummaryCoding::none) {
    throw std::invalid_argument("SummaryTable: cannot patch: a " + std::string(name_of(message.kind)) +
                                " contains no units; apply a delta or a full copy");
  }
  if (message.kind == SummaryMessageKind::full) {
    SummaryTable fresh(message.layout);
    (void)detail::read_units(message,
                             [&](std::uint64_t unit, std::uint32_t value) { fresh.put(unit, value); });
    table = std::move(fresh);
    digest = message.digest;
    return true;
  }
  if (message.layout != table.layout()) {
    throw std::invalid_argument(
        "SummaryTable: cannot patch: the delta is for another layout (shape, scheme, hash or seed); apply a "
        "full copy");
  }
  SummaryStatus status;
  status.digest = digest;
  if (!detail::apply_delta(message, status, table)) return false;
  digest = status.digest;
  return true;
}

std::uint64_t digest_of(const SummaryTable& table) noexcept {
  std::uint64_t digest = 0;
  detail::UnitView(table.layout(), table.words()).for_each([&](std::uint64_t unit, std::uint32_t value) {
    digest ^= unit_digest(unit, value);
  });
  return digest;
}

}  // namespace tally
