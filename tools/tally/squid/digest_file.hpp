#pragma once

#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/file_stamp.hpp"

namespace tally::cli {

/// The bytes of a file that is a digest of Squid, as of the last time it was read completely.
class DigestFile {
 public:
  using Bytes = std::vector<std::byte>;

  /// Throws what open_squid_digest throws.
  DigestFile(std::string path, bool quiet);

  /// Reads the file again if it was replaced. If that fails the old bytes stay, and a remark says why.
  void refresh();
  /// Sessions that are sending the old bytes keep them.
  const std::shared_ptr<const Bytes>& bytes() const { return bytes_; }
  std::time_t last_modified() const { return last_modified_; }

 private:
  void read();

  std::string path_;
  bool quiet_;
  std::optional<FileStamp> stamp_;
  std::shared_ptr<const Bytes> bytes_;
  std::time_t last_modified_ = 0;
};

}  // namespace tally::cli
