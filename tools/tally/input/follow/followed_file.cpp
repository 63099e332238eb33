#include "input/follow/followed_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "input/compression.hpp"
#include "text/output.hpp"

namespace tally::cli {
namespace {

/// A file that has lost its name is closed when nothing was written to it for this time.
constexpr std::chrono::seconds patience(60);
/// If more files are open than that, those without a name are closed at their ends.
constexpr std::size_t most_files = 64;

}  // namespace

FollowedFile::FollowedFile(std::string path, Options options, FileNumbers& numbers)
    : path_(std::move(path)),
      name_(std::filesystem::path(path_).filename().string()),
      options_(options),
      numbers_(numbers) {
  if (auto file = open(path_)) files_.push_back(std::move(file));
  if (is_there() && options_.follow == Follow::new_lines) files_.back()->skip_to_end();
}

std::string FollowedFile::directory_of(const std::string& path) {
  const std::filesystem::path whole(path);
  return whole.has_parent_path() ? whole.parent_path().string() : ".";
}

std::unique_ptr<OpenedFile> FollowedFile::open(const std::string& path) const {
  const std::size_t number = numbers_.take(path_);
  std::unique_ptr<OpenedFile> file;
  try {
    file = OpenedFile::open(path, options_.separator, number);
    const Compression* const compression = file ? compression_of(file->start()).compression : nullptr;
    if (compression != nullptr && !options_.reads_compressed) {
      throw std::runtime_error(
          fmt::format("--follow: '{}' is {}, which cannot be followed; leave --follow out, or read the bytes "
                      "unchanged with "
                      "--no-decompress",
                      path, compression->name));
    }
  } catch (...) {
    numbers_.give_back(number);
    throw;
  }
  if (!file) numbers_.give_back(number);
  return file;
}

bool FollowedFile::knows(const FileIdentity& identity) const noexcept {
  return std::ranges::any_of(files_, [&](const auto& file) { return file->identity() == identity; });
}

void FollowedFile::look_for_new_file() {
  const std::optional<FileIdentity> identity = OpenedFile::identity_of(path_);
  newest_has_name_ = identity && is_there() && files_.back()->identity() == *identity;
  if (!identity || newest_has_name_) return;
  const auto known =
      std::ranges::find_if(files_, [&](const auto& file) { return file->identity() == *identity; });
  if (known != files_.end()) {  // it has its name back
    std::rotate(known, known + 1, files_.end());
  } else if (auto file = try_to_open()) {
    files_.push_back(std::move(file));
  } else {
    return;
  }
  newest_has_name_ = true;
}

/// Whoever makes a new file may give it its permissions later.
std::unique_ptr<OpenedFile> FollowedFile::try_to_open() {
  std::string fault;
  std::unique_ptr<OpenedFile> file;
  try {
    file = open(path_);
  } catch (const std::system_error& error) {
    fault = error.what();
  }
  if (!fault.empty() && fault != fault_) remark(false, fault + "; trying again");
  fault_ = fault;
  return file;
}

void FollowedFile::take_renamed(const std::string& name) {
  const std::string path = (std::filesystem::path(directory_of(path_)) / name).string();
  const std::optional<FileIdentity> identity = OpenedFile::identity_of(path);
  if (!identity || knows(*identity)) return;
  auto file = open(path);
  if (!file) return;
  const bool newest_has_name = is_there() && OpenedFile::identity_of(path_) == files_.back()->identity();
  files_.insert(newest_has_name ? files_.end() - 1 : files_.end(), std::move(file));
}

bool FollowedFile::may_close(const OpenedFile& file) const {
  if (&file == files_.back().get() && newest_has_name_) return false;
  return files_.size() > most_files || OpenedFile::Clock::now() - file.last_read() > patience;
}

FollowedBlock FollowedFile::next(std::vector<char>& buffer) {
  look_for_new_file();
  for (std::size_t i = 0; i < files_.size(); ++i) {
    FollowedBlock block = files_[i]->next(buffer);
    if (!block.bytes.empty()) return block;
    if (!may_close(*files_[i])) continue;
    block = files_[i]->rest(buffer);
    closed_bytes_ += files_[i]->bytes_read();
    numbers_.give_back(files_[i]->number());
    files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(i--));
    if (!block.bytes.empty()) return block;
  }
  return {};
}

std::uint64_t FollowedFile::bytes_read() const noexcept {
  std::uint64_t sum = closed_bytes_;
  for (const auto& file : files_) sum += file->bytes_read();
  return sum;
}

}  // namespace tally::cli
