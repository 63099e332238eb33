#include <span>
#include <stdexcept>
#include <string>

#include "files/shape_json.hpp"
#include "functions.hpp"
#include "open_filters.hpp"

namespace tally::page {
namespace {

constexpr std::uint64_t most_positions = 4096;

/// The parts of a filter that are its own; the others are null.
struct Parts {
  const BitArray* bits = nullptr;
  const CounterArray* counters = nullptr;
  const CellTable* cells = nullptr;
  const SpillTable* spills = nullptr;
  const CompactDLeftFilter* compact = nullptr;
};

Parts parts_of(const AnyFilter& filter) {
  Parts parts;
  filter.visit([&]<class Inside>(const Inside& inside) {
    if constexpr (requires { inside.table().cells(); }) {
      parts.cells = &inside.table().cells();
      parts.spills = &inside.table().spills();
    } else if constexpr (requires { inside.table(); }) {
      parts.compact = &inside;
      parts.spills = &inside.table().spills();
    } else if constexpr (filter_type<Inside>.kind == FilterKind::bloom ||
                         filter_type<Inside>.kind == FilterKind::blocked_bloom) {
      parts.bits = &inside.storage();
    } else {
      parts.counters = &inside.storage();
    }
  });
  return parts;
}

std::string bits_text(const BitArray& bits) {
  std::string text;
  for (std::uint64_t i = 0; i < bits.size(); ++i) text += bits.get(i) ? '1' : '0';
  return text;
}

Json counters_json(const CounterArray& counters) {
  Json values = Json::array();
  for (std::uint64_t i = 0; i < counters.size(); ++i) values.push_back(counters.get(i));
  return values;
}

/// The lowest bits of a number.
std::uint64_t low_bits(std::uint64_t number, std::uint32_t num_bits) {
  return number & ((std::uint64_t{1} << num_bits) - 1);
}

Json cell_json(std::uint32_t cell, std::uint32_t remainder_bits) {
  if (cell == 0) return nullptr;
  const std::uint64_t value = cell;
  return {{"remainder", low_bits(value, remainder_bits)}, {"count", (value >> remainder_bits) + 1}};
}

/// Subtables of buckets of cells.
Json subtables_json(const CellTable& cells, const DLeftShape& shape) {
  Json subtables = Json::array();
  const std::uint64_t num_buckets = shape.current_buckets_per_subtable();
  for (std::uint64_t i = 0; i < shape.num_subtables; ++i) {
    Json buckets = Json::array();
    for (std::uint64_t bucket = i * num_buckets; bucket < (i + 1) * num_buckets; ++bucket) {
      Json own = Json::array();
      for (std::uint32_t j = 0; j < shape.cells_per_bucket; ++j)
        own.push_back(cell_json(cells.get(bucket, j), shape.remainder_bits));
      buckets.push_back(own);
    }
    subtables.push_back(buckets);
  }
  return subtables;
}

/// Subtables of lines, each a list of its fingerprints.
Json lines_json(const CompactDLeftFilter& filter) {
  Json subtables = Json::array();
  const std::uint64_t num_lines = filter.shape().num_lines_per_subtable;
  for (std::uint64_t i = 0; i < 2; ++i) {
    Json lines = Json::array();
    for (std::uint64_t line = i * num_lines; line < (i + 1) * num_lines; ++line) {
      Json own = Json::array();
      filter.table().any_fingerprint(line, [&](const auto& cell, std::uint32_t num_cells) {
        own.push_back(
            {{"mini_bucket", cell.mini_bucket}, {"remainder", cell.remainder}, {"num_cells", num_cells}});
        return false;
      });
      lines.push_back(own);
    }
    subtables.push_back(lines);
  }
  return subtables;
}

/// `names_of` makes an object of a fingerprint.
template <class NamesOf>
Json spills_json(const SpillTable& spills, NamesOf names_of) {
  Json entries = Json::array();
  const std::span<const std::uint64_t> words = spills.words();
  for (std::size_t at = 0; at + 1 < words.size(); at += 2) {
    if (words[at + 1] == 0) continue;
    Json entry = names_of(words[at]);
    entry["count"] = words[at + 1];
    entries.push_back(entry);
  }
  return {{"capacity", spills.capacity()}, {"entries", entries}};
}

Json totals_json(const FilterTotals& totals) {
  return {{"num_insertions", totals.num_insertions},
          {"num_removes", totals.num_removes},
          {"num_refused_removes", totals.num_refused_removes},
          {"num_full", totals.num_full},
          {"num_rescues", totals.num_rescues},
          {"num_fingerprints", totals.num_fingerprints}};
}

Json statistics_json(const FilterStatistics& statistics) {
  return {{"num_positions", statistics.num_positions},
          {"num_nonzero", statistics.num_nonzero},
          {"num_saturated", statistics.num_saturated},
          {"estimated_num_keys", statistics.estimated_num_keys},
          {"estimated_false_positive_rate", statistics.estimated_false_positive_rate}};
}

}  // namespace

Json filter_dump(const Json& fields) {
  Arguments arguments(fields);
  const AnyFilter& filter = OpenFilters::get(arguments);
  arguments.refuse_others();
  const FilterShape shape = filter.shape();
  if (shape.num_positions() > most_positions)
    throw std::invalid_argument("the filter has " + std::to_string(shape.num_positions()) +
                                " positions; filter_dump shows at most 4096");
  Json json = {{"shape", cli::shape_to_json(shape)},
               {"totals", totals_json(filter.totals())},
               {"statistics", statistics_json(filter.statistics())}};
  const Parts parts = parts_of(filter);
  if (parts.bits != nullptr) json["bits"] = bits_text(*parts.bits);
  if (parts.counters != nullptr) {
    json["counters"] = counters_json(*parts.counters);
    json["greatest"] = parts.counters->max();
  }
  if (const auto* const dleft = std::get_if<DLeftShape>(&shape.shape)) {
    json["subtables"] = subtables_json(*parts.cells, *dleft);
    const std::uint32_t bits = dleft->remainder_bits;
    json["spills"] = spills_json(*parts.spills, [&](std::uint64_t fingerprint) -> Json {
      return {{"bucket", fingerprint >> bits}, {"remainder", low_bits(fingerprint, bits)}};
    });
  }
  if (parts.compact != nullptr) {
    json["lines"] = lines_json(*parts.compact);
    const std::uint32_t bits = parts.compact->shape().remainder_bits;
    const std::uint32_t in_line_bits = parts.compact->table().layout().in_line_bits(bits);
    json["spills"] = spills_json(*parts.spills, [&](std::uint64_t fingerprint) -> Json {
      return {{"line", fingerprint >> in_line_bits},
              {"mini_bucket", low_bits(fingerprint, in_line_bits) >> bits},
              {"remainder", low_bits(fingerprint, bits)}};
    });
  }
  return json;
}

}  // namespace tally::page
