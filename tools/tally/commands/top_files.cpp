#include "commands/top_files.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "commands/top_report.hpp"
#include "files/sketch_file.hpp"
#include "text/key_json.hpp"

namespace tally::cli {
namespace {

AnySketch load_all(const TopOptions& options) {
  const std::optional<HashKey> key = options.hasher.key();
  const std::string& first = options.saved_files.front();
  AnySketch all = load_sketch(first, key);
  if (kind_of(all) == FileKind::count_min_window)
    throw FileKindError(kind_of(all), "top-keys or space-saving", first);
  for (std::size_t i = 1; i < options.saved_files.size(); ++i)
    merge_file(all, first, options.saved_files[i], key);
  return all;
}

// Files with too few candidates, in which a key above the share may be missing, are refused.
void require_complete(const Ranking& all, const std::optional<double>& share) {
  if (!share || !is_above_share(all.floor, *share, all.total)) return;
  throw std::invalid_argument(fmt::format(
      "--share is {}; a key that is not in the files may have {} of {}, which is more; give a larger "
      "share, or save with more candidates (--error or --memory)",
      *share, all.floor, all.total));
}

template <class Top>
ExitCode report_on(const TopOptions& options, const Top& top) {
  require_complete(candidates_of(top), options.share);
  TopReport report(options, [&] { return candidates_of(top); });
  const Ranking ranking = report.ranking();
  for (const KeyCount& key : ranking.keys)
    (void)shown_key(options.input.key_type, key.key);  // refuses other keys
  report.write_last(ranking);
  Json summary{{"num_files", options.saved_files.size()}};
  summary.update(report.totals(ranking));
  summary["num_candidates"] = top.capacity();
  summary["memory_bytes"] = top.num_bytes();
  summary.update(hash_json(top.hasher()));
  report.finish(summary);
  remark(
      options.quiet,
      fmt::format("{} files, total {}; {} keys, {} of them certain; any other key has at most {}{}; {}; {}",
                  options.saved_files.size(), ranking.total, ranking.keys.size(),
                  summary["num_certain"].dump(), ranking.bound_of_others, unless_chosen(top.hasher()),
                  human_bytes(static_cast<double>(top.num_bytes())), hash_text(top.hasher())));
  return ranking.keys.empty() ? ExitCode::none : ExitCode::success;
}

}  // namespace

ExitCode run_top_from(const TopOptions& options) {
  const AnySketch all = load_all(options);
  return std::visit(
      [&](const auto& own) {
        if constexpr (requires { own.candidates(); }) return report_on(options, own);
        return ExitCode::none;  // a window, which load_all refuses
      },
      all);
}

}  // namespace tally::cli
