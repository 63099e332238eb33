#include "input/follow/follow_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cli/meanwhile.hpp"
#include "cli/signals.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

constexpr int wait_milliseconds = 100;

}  // namespace

FollowReader::FollowReader(const std::vector<std::string>& files, char separator, Decompress decompress,
                           Follow follow) {
  if (std::ranges::find(files, "-") != files.end()) {
    throw std::invalid_argument(
        "--follow: standard input has no name to follow; name files, or leave --follow out: standard input "
        "is read as it is written");
  }
  for (const std::string& path : files) {
    if (std::ranges::any_of(files_, [&](const FollowedFile& file) { return file.path() == path; })) continue;
    // The watch comes first: what is renamed after it is noticed.
    directories_.push_back(changes_.watch(FollowedFile::directory_of(path)));
    const FollowedFile& file = files_.emplace_back(
        path, FollowedFile::Options{separator, follow, decompress == Decompress::no}, numbers_);
    if (!file.is_there()) remark(false, fmt::format("there is no '{}'; waiting for it", path));
  }
  if (std::ranges::none_of(files_, &FollowedFile::is_there))
    throw std::system_error(ENOENT, std::generic_category(), files.front());
}

/// A file can have had a name, and lost it, since we looked last. Its new name counts as long as no later rename is known.
void FollowReader::take_renames() {
  std::vector<std::pair<std::size_t, std::string>>
      renamed;  // the number of a followed file, and what it was renamed to
  while (true) {
    const std::vector<DirectoryChanges::Rename> renames = changes_.take();
    if (changes_.has_lost_some())
      remark(false, "there were too many renames to follow; lines may be missing");
    if (renames.empty()) return;
    for (const DirectoryChanges::Rename& rename : renames) {
      for (auto& [number, name] : renamed) {
        if (directories_[number] == rename.directory && name == rename.from) name = rename.to;
      }
      for (std::size_t i = 0; i < files_.size(); ++i) {
        if (directories_[i] == rename.directory && files_[i].name() == rename.from)
          renamed.emplace_back(i, rename.to);
      }
    }
    for (const auto& [number, name] : renamed) files_[number].take_renamed(name);
  }
}

void FollowReader::wait() const {
  flush_before_waiting();
  Meanwhile::run(true);
  wait_unless_output_is_closed(0);
  changes_.wait(wait_milliseconds);
}

FollowedBlock FollowReader::next(std::vector<char>& buffer) {
  while (!stop_requested()) {
    take_renames();
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const FollowedBlock block =
          files_[std::exchange(next_file_, (next_file_ + 1) % files_.size())].next(buffer);
      if (!block.bytes.empty()) return block;
    }
    wait();
  }
  return {};
}

std::uint64_t FollowReader::bytes_read() const noexcept {
  std::uint64_t sum = 0;
  for (const FollowedFile& file : files_) sum += file.bytes_read();
  return sum;
}

}  // namespace tally::cli
