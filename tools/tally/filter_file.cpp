#include "filter_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "count_min_options.hpp"
#include "options.hpp"
#include "output_check.hpp"
#include "shape_json.hpp"
#include "signals.hpp"

namespace tally::cli {

std::optional<HashKey> FilterFileOptions::key() const {
  if (key_file.empty()) return std::nullopt;
  return read_key_file(key_file);
}

void add_filter_file(CLI::App& app, FilterFileOptions& options) {
  app.add_option("filter", options.path, "The filter file")->type_name("FILE")->required();
  add_key_file(app, options.key_file);
}

OpenFilter::OpenFilter(const FilterFileOptions& options, VerifyBody verify) {
  std::error_code ignored;  // the open that follows says what is wrong
  const std::filesystem::file_status status = std::filesystem::status(options.path, ignored);
  if (std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status)) {
    loaded_.emplace(load(options.path, options.key()));
  } else {
    mapped_.emplace(MappedFilter::open(options.path, options.key(), verify));
  }
}

FileLock::FileLock(const std::string& path, bool quiet) {
  const auto fail = [&path] { throw std::system_error(errno, std::generic_category(), path); };
  while (true) {
    file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) fail();
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK)
        remark(quiet, fmt::format("{} is being changed by another process; waiting", path));
      if (flock(file_, LOCK_EX) != 0) {
        const int reason = errno;
        close(file_);
        errno = reason;
        fail();
      }
    }
    // A writer replaces the file: what was locked may be the one of before.
    struct stat locked {};
    struct stat current {};
    if (fstat(file_, &locked) == 0 && stat(path.c_str(), &current) == 0 && locked.st_ino == current.st_ino &&
        locked.st_dev == current.st_dev) {
      return;
    }
    close(file_);
  }
}

FileLock::~FileLock() { close(file_); }

void check_overwrite(const std::string& path, bool force, std::string_view flag) {
  if (path == "-") return check_standard_output();
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  const bool is_link = std::filesystem::is_symlink(std::filesystem::symlink_status(path, ignored));
  if (is_link && !std::filesystem::exists(status) && !force) {
    throw std::invalid_argument(fmt::format(
        "{}: '{}' is a symbolic link to a file that is not there; give --force to create that", flag, path));
  }
  if (std::filesystem::is_directory(status)) {
    throw std::invalid_argument(fmt::format("{}: '{}' is a directory; give a file", flag, path));
  }
  if (std::filesystem::is_regular_file(status) && !force) {
    throw std::invalid_argument(fmt::format("{}: '{}' exists; give --force to overwrite it", flag, path));
  }
  check_can_write(path);
}

void refuse_if_stopped(const std::string& path) {
  if (stop_requested()) throw std::runtime_error(fmt::format("interrupted; '{}' was not written", path));
}

void insert_all(AnyFilter& filter, std::span<const Hash128> digests, const std::string& path) {
  if (filter.insert_batch(digests) == 0) return;
  const DLeftTableStatistics table = filter.dleft_statistics().value().table;
  if (table.num_spilled == table.spill_capacity) {
    throw std::runtime_error(fmt::format(
        "the filter is full: {} keys are in it more than {} times, and it has room for no more such; "
        "'{}' was not written; build it with more --frequent-keys",
        table.num_spilled, table.counts.size() - 1, path));
  }
  throw std::runtime_error(
      fmt::format("the filter is full: {} of its {} cells are in use, and a key found none; '{}' was not "
                  "written; build it with more --keys, or with --max-doublings so that it grows",
                  table.num_fingerprints, table.num_cells, path));
}

std::uint64_t insert_input(AnyFilter& filter, const InputOptions& input, const RecordOptions& records,
                           bool quiet, const std::string& path) {
  if (records.sum_fields.empty()) {
    return for_each_batch(input, filter.hasher(), quiet,
                          [&](std::span<const std::string_view>, std::span<const Hash128> digests) {
                            insert_all(filter, digests, path);
                          });
  }
  filter.add_batch({}, {});  // a kind that takes no weights is refused before any input is read
  RecordReader reader(input, records, filter.hasher(), false);
  for_each_record(reader, quiet,
                  [&](const Records& lines) { filter.add_batch(lines.digests, lines.weights); });
  if (reader.num_skipped() > 0)
    remark(quiet, fmt::format("skipped {} lines without a weight", reader.num_skipped()));
  return reader.num_lines() - reader.num_skipped();
}

void save_filter(const AnyFilter& filter, const std::string& path, Overwrite overwrite) {
  struct stat status {};
  const bool is_redirected = path == "-" && ::fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
  if (!is_redirected) return save(filter, path == "-" ? "/dev/stdout" : path, overwrite);
  // What was opened for us stands there already; it is written to, not replaced.
  const std::vector<std::byte> bytes = serialize(filter);
  print({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
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
  return json;
}

std::string shape_text(const FilterShape& shape) {
  if (const auto* dleft = std::get_if<DLeftShape>(&shape.shape)) {
    return fmt::format(
        "dleft filter, {} scheme: {} cells in {} subtables, {} a bucket, {} bits a remainder, {} a "
        "counter, {}",
        shape.scheme_name(), dleft->num_cells(), dleft->num_subtables, dleft->cells_per_bucket,
        dleft->current_remainder_bits(), dleft->counter_bits,
        human_bytes(static_cast<double>(shape.num_bytes())));
  }
  if (const auto* count_min = std::get_if<CountMinShape>(&shape.shape)) {
    return fmt::format("count-min sketch, {} rows: {} rows of {} counters of {} bits, {} update, {}",
                       shape.scheme_name(), count_min->num_rows(), count_min->width, count_min->counter_bits,
                       name_of(count_min->update), human_bytes(static_cast<double>(shape.num_bytes())));
  }
  std::string text =
      fmt::format("{} filter, {} scheme: {} {}, {} hashes", name_of(shape.kind()), shape.scheme_name(),
                  shape.num_positions(), shape.counter_bits() == 1 ? "bits" : "counters", shape.num_hashes());
  if (shape.counter_bits() > 1) text += fmt::format(", {} bits a counter", shape.counter_bits());
  if (shape.threshold() > 1) text += fmt::format(", threshold {}", shape.threshold());
  return text + ", " + human_bytes(static_cast<double>(shape.num_bytes()));
}

std::string state_text(const AnyFilter& filter, const FilterStatistics& statistics) {
  std::string keys = std::isfinite(statistics.estimated_num_keys)
                         ? "about " + human_count(statistics.estimated_num_keys) + " distinct keys"
                         : "too many keys to tell how many";
  std::string text =
      fmt::format("{}, fill {}, an absent key passes with {}", keys, human_rate(statistics.fill_ratio()),
                  human_rate(statistics.estimated_false_positive_rate));
  if (const auto bound = filter.count_min_bound()) {
    text = fmt::format("{}, counts of {} in all; one is {}", keys, statistics.num_insertions,
                       bound_text(*bound));
  }
  if ((filter.can_remove() || filter.is_sketch()) && statistics.num_saturated > 0) {
    text += fmt::format(", {} counters stuck at their maximum", statistics.num_saturated);
  }
  return text;
}

std::string count_text(const Count& count) {
  return fmt::format("{}{}", count.saturated ? ">=" : "", count.value);
}

}  // namespace tally::cli
