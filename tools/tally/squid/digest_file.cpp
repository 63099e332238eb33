#include "squid/digest_file.hpp"

#include <fmt/core.h>

#include <exception>
#include <utility>

#include "squid/source.hpp"
#include "text/output.hpp"

namespace tally::cli {

DigestFile::DigestFile(std::string path, bool quiet)
    : path_(std::move(path)), quiet_(quiet), stamp_(stamp_of(path_)) {
  read();
}

void DigestFile::refresh() {
  const std::optional<FileStamp> now = stamp_of(path_);
  if (now == stamp_) return;
  stamp_ = now;
  try {
    read();
    remark(quiet_, fmt::format("read {} again", path_));
  } catch (const std::exception& error) {
    remark(false, fmt::format("{}; still serving the previous digest", error.what()));
  }
}

void DigestFile::read() {
  bytes_ = std::make_shared<const Bytes>(open_squid_digest(path_).to_bytes());
  last_modified_ = stamp_ ? static_cast<std::time_t>(stamp_->seconds) : 0;
}

}  // namespace tally::cli
