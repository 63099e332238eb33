#include "files/filter_file.hpp"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "cli/options.hpp"
#include "cli/signals.hpp"
#include "files/shape_json.hpp"
#include "input/read_ahead.hpp"
#include "text/bound_text.hpp"

namespace tally::cli {

std::optional<HashKey> FilterFileOptions::key() const {
  if (key_file.empty()) return std::nullopt;
  return read_key_file(key_file);
}

void add_filter_file(CommandLine app, FilterFileOptions& options) {
  app.add_option("filter", options.path, "The filter file").type_name("FILE").required();
  add_key_file(app, options.key_file);
}

void add_filter_file_or_store(CommandLine app, FilterFileOptions& options) {
  app.add_option("filter", options.path, "The filter file; not with --store").type_name("FILE");
  add_key_file(app, options.key_file);
}

Option add_no_verify(CommandLine app, bool& verify) {
  return app.add_flag("!--no-verify", verify,
                      "Answer without verifying the file's checksum first (docs/format.md has its cost)");
}

bool is_stream(const std::string& path) {
  std::error_code ignored;  // the following open reports the error
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status);
}

OpenFilter::OpenFilter(const FilterFileOptions& options) {
  if (is_stream(options.path)) {
    loaded_.emplace(load(options.path, options.key()));
  } else {
    on_bus_error_.emplace(options.path);
    mapped_.emplace(
        MappedFilter::open(options.path, options.key(), options.verify ? VerifyBody::yes : VerifyBody::no));
  }
}

void refuse_if_stopped(const std::string& path) {
  if (stop_requested()) throw std::runtime_error(fmt::format("interrupted; '{}' was not written", path));
}

void insert_all(AnyFilter& filter, std::span<const Hash128> digests, const std::string& path) {
  if (filter.insert_batch(digests) != 0) throw_full(filter, path);
}

void throw_full(const AnyFilter& filter, const std::string& path) {
  if (const auto compact = filter.compact_statistics()) {
    if (compact->num_spilled == compact->spill_capacity) {
      throw std::runtime_error(fmt::format(
          "the filter is full: its side table holds {} fingerprints, of keys that occur more than "
          "3 times; '{}' was not written; build a dleft filter, which has counters in its cells",
          compact->num_spilled, path));
    }
    throw std::runtime_error(fmt::format(
        "the filter is full: {} of its {} cells are in use, and a key found no room; '{}' was not "
        "written; build it with more --keys (a key takes a cell for each of its first 3 times)",
        compact->num_used_cells, compact->num_cells, path));
  }
  const DLeftTableStatistics table = filter.dleft_statistics().value().table;
  if (table.num_spilled == table.spill_capacity) {
    throw std::runtime_error(fmt::format(
        "the filter is full: its side table holds {} fingerprints, of frequent keys and of keys with the "
        "same fingerprint; '{}' was not written; say with --frequent-keys how many keys occur more than {} "
        "times, and build it again",
        table.num_spilled, path, table.counts.size() - 1));
  }
  throw std::runtime_error(
      fmt::format("the filter is full: {} of its {} cells are in use, and a key found no room; '{}' was not "
                  "written; build it with more --keys, or with --max-doublings so that it grows",
                  table.num_fingerprints, table.num_cells, path));
}

/// Both threads compute all positions of an ordinary filter. That pays once they have to wait for its memory.
constexpr std::uint64_t least_bytes_for_parts = std::uint64_t{16} << 20;

std::uint64_t insert_input(AnyFilter& filter, const InputOptions& input, const RecordOptions& records,
                           bool quiet, const std::string& path) {
  if (records.sum_fields.empty()) {
    if (filter.has_parts() && filter.shape().num_bytes() >= least_bytes_for_parts) {
      const auto in_part = [&](std::uint32_t index) {
        return [&filter, index](std::span<const Hash128> digests) {
          filter.insert_batch(digests, FilterPart{index, 2});
        };
      };
      if (const auto totals =
              for_each_digest_in_halves(input, filter.hasher(), quiet, in_part(0), in_part(1)))
        return totals->num_keys;
    }
    return for_each_digest_batch(input, filter.hasher(), quiet,
                                 [&](std::span<const Hash128> digests) { insert_all(filter, digests, path); })
        .num_keys;
  }
  filter.add_batch({}, {});  // refuses a kind without weights before any input is read
  RecordReader reader(input, records, filter.hasher(), false);
  for_each_record(reader, quiet,
                  [&](const StreamRecords& lines) { filter.add_batch(lines.digests, lines.weights); });
  remark_skipped(quiet, reader.num_skipped());
  return reader.num_lines() - reader.num_skipped();
}

Json filter_to_json(const AnyFilter& filter, const FilterStatistics& statistics) {
  const FilterShape shape = filter.shape();
  const bool keyed = filter.hasher().id() != HashId::xxh3_128;
  const auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  Json json{{"shape", shape_to_json(shape)},
            {"hash", name_of(filter.hasher().id())},
            {keyed ? "key_id" : "seed", filter.hasher().seed_or_key_id()},
            {"memory_bytes", shape.num_bytes()},
            {"num_nonzero", statistics.num_nonzero},
            {"fill_ratio", statistics.fill_ratio()},
            {"num_insertions", statistics.num_insertions},
            {"estimated_num_keys", finite(statistics.estimated_num_keys)},
            {"estimated_num_keys_standard_error", finite(statistics.estimated_num_keys_standard_error)},
            {"estimated_false_positive_rate", statistics.estimated_false_positive_rate}};
  if (filter.can_remove()) {
    json["num_removes"] = statistics.num_removes;
    json["num_refused_removes"] = statistics.num_refused_removes;
  }
  if (filter.can_count()) {
    json["num_saturated"] = statistics.num_saturated;
    Json histogram = Json::array();
    for (const HistogramBin& bin : statistics.histogram) {
      histogram.push_back(
          {{"least", bin.least}, {"greatest", bin.greatest}, {"num_counters", bin.num_counters}});
    }
    json["histogram"] = histogram;
  }
  if (const auto bound = filter.count_min_bound()) {
    json["count_min"] = {{"total_count", statistics.num_insertions},
                         {"epsilon", bound->epsilon},
                         {"failure_probability", bound->failure_probability},
                         {"rounding", filter.totals().rounding}};
  }
  if (const auto dleft = filter.dleft_statistics()) {
    json["dleft"] = {
        {"num_keys", dleft->table.num_keys},        {"loads", dleft->table.loads},
        {"num_spilled", dleft->table.num_spilled},  {"spilled_total", dleft->table.spilled_total},
        {"num_rescues", dleft->totals.num_rescues}, {"num_full", dleft->totals.num_full}};
  }
  if (const auto compact = filter.compact_statistics()) {
    Json loads = Json::array();
    for (const auto& subtable : compact->loads) loads.push_back(subtable);
    json["compact_dleft"] = {{"num_keys", compact->num_keys},
                             {"num_fingerprints", compact->num_fingerprints},
                             {"loads", loads},
                             {"num_spilled", compact->num_spilled},
                             {"spilled_total", compact->spilled_total},
                             {"num_rescues", compact->totals.num_rescues},
                             {"num_full", compact->totals.num_full}};
  }
  return json;
}

std::string shape_text(const FilterShape& shape) {
  if (const auto* dleft = std::get_if<DLeftShape>(&shape.shape)) {
    return fmt::format(
        "dleft filter, {} scheme: {} cells in {} subtables, {} per bucket, {} remainder bits, {} counter "
        "bits, {}",
        shape.scheme_name(), dleft->num_cells(), dleft->num_subtables, dleft->cells_per_bucket,
        dleft->current_remainder_bits(), dleft->counter_bits,
        human_bytes(static_cast<double>(shape.num_bytes())));
  }
  if (const auto* compact = std::get_if<CompactDLeftShape>(&shape.shape)) {
    return fmt::format("compact-dleft filter, {} scheme: {} cells in {} lines, {} remainder bits, {}",
                       shape.scheme_name(), compact->num_cells(), compact->num_lines(),
                       compact->remainder_bits, human_bytes(static_cast<double>(shape.num_bytes())));
  }
  if (const auto* count_min = std::get_if<CountMinShape>(&shape.shape)) {
    return fmt::format("count-min sketch, {} rows: {} rows of {} counters of {} bits, {} update, {}",
                       shape.scheme_name(), count_min->num_rows(), count_min->width, count_min->counter_bits,
                       name_of(count_min->update), human_bytes(static_cast<double>(shape.num_bytes())));
  }
  std::string text =
      fmt::format("{} filter, {} scheme: {} {}, {} hashes", name_of(shape.kind()), shape.scheme_name(),
                  shape.num_positions(), shape.counter_bits() == 1 ? "bits" : "counters", shape.num_hashes());
  if (shape.counter_bits() > 1) text += fmt::format(", {} bits per counter", shape.counter_bits());
  if (const std::uint64_t theta = shape.made_for_theta().value_or(1); theta > 1)
    text += fmt::format(", threshold {}", theta);
  return text + ", " + human_bytes(static_cast<double>(shape.num_bytes()));
}

std::string state_text(const AnyFilter& filter, const FilterStatistics& statistics) {
  std::string keys = std::isfinite(statistics.estimated_num_keys)
                         ? "about " + human_count(statistics.estimated_num_keys) + " distinct keys"
                         : "too many keys to estimate";
  std::string text =
      fmt::format("{}, fill {}, false positive rate {}", keys, human_rate(statistics.fill_ratio()),
                  human_rate(statistics.estimated_false_positive_rate));
  if (const auto bound = filter.count_min_bound()) {
    text =
        fmt::format("{}, total count {}; a count is {}", keys, statistics.num_insertions, bound_text(*bound));
  }
  if ((filter.can_remove() || filter.is_sketch()) && statistics.num_saturated > 0) {
    text += fmt::format(", {} saturated counters", statistics.num_saturated);
  }
  return text;
}

std::string count_text(const Count& count) {
  return fmt::format("{}{}", count.saturated ? ">=" : "", count.value);
}

}  // namespace tally::cli
