#include "kmers/count_report.hpp"

#include <algorithm>
#include <span>

#include "tally/sets/entry_count.hpp"
#include "text/key_json.hpp"

namespace tally::cli {
namespace {

// As in `jellyfish histo`: the last line has the k-mers with this count or a higher one.
constexpr std::uint64_t last_count_of_histogram = 10'001;

}  // namespace

CountReport::CountReport(const KmersOptions& options)
    : options_(options), output_({.is_shared = true}), num_kmers_of_count_(last_count_of_histogram + 1) {
  if (!options.histogram.empty() && options.histogram != "-")
    histogram_file_.emplace(options.histogram, options.force, options.quiet, "--histogram");
}

void CountReport::tally(std::uint32_t count) {
  ++num_kmers_;
  num_saturated_ += count == EntryCount::max_count;
  ++num_kmers_of_count_[std::min<std::uint64_t>(count, last_count_of_histogram)];
}

void CountReport::print(std::string_view kmer, std::uint32_t count) {
  line_.clear();
  const auto join = [&](auto... parts) { (line_.append(parts), ...); };
  const std::string number = std::to_string(count);
  if (options_.json) {
    line_ = json_line(Json{{"key", kmer}, {"count", count}});
  } else if (options_.dump_format == "jellyfish") {
    join(">", number, "\n", kmer, "\n");
  } else if (options_.dump_format == "jellyfish-column") {
    join(kmer, " ", number, "\n");
  } else if (options_.dump_format == "kmc") {
    join(kmer, "\t", number, "\n");
  } else {
    join(number, "\t", kmer, "\n");
  }
  output_.write(line_);
}

void CountReport::write_histogram() {
  std::string text;
  for (std::uint64_t count = 0; count < num_kmers_of_count_.size(); ++count) {
    const std::uint64_t num_kmers = num_kmers_of_count_[count];
    if (num_kmers == 0) continue;
    if (options_.json && !histogram_file_) {
      text += json_line(Json{{"count", count}, {"num_kmers", num_kmers}});
    } else {
      text.append(std::to_string(count)).append(" ").append(std::to_string(num_kmers)).append("\n");
    }
  }
  if (histogram_file_) {
    histogram_file_->save(std::as_bytes(std::span(text)));
  } else {
    output_.write(text);
  }
}

void CountReport::finish(const Json& summary) {
  if (!options_.histogram.empty()) write_histogram();
  if (options_.json) output_.write(json_line(Json{{"summary", summary}}));
  output_.finish();
}

}  // namespace tally::cli
