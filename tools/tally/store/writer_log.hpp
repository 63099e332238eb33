#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/guarded_file.hpp"
#include "store/input_unit.hpp"
#include "tally/redis_client/batch_writer.hpp"

namespace tally::cli {

/// Which files a run reads: their devices and inodes. Empty for standard input.
using InputIdentity = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
InputIdentity identity_of(const std::vector<std::string>& files);

/// Where the output of a unit begins, if standard output is a file.
struct OutputPlace {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  ///< 0: it is none
  std::uint64_t offset = 0;
};

/// What a writer must remember from one run to the next.
struct WriterState {
  std::string store;   ///< name and seed
  std::string writer;  ///< of this log alone
  std::vector<redis_client::WriterPosition> positions;
  std::uint64_t next_unit = 1;
  std::string reading = "text";  ///< how keys are read: reading_text
  InputIdentity input;
  std::uint64_t num_lines = 0;  ///< of the input that are in units
  bool is_finished = true;      ///< the input was read to its end, or to a stop
  std::vector<std::pair<std::uint64_t, std::vector<std::string>>> units;  ///< not done: first line and texts
  std::optional<OutputPlace> printing;  ///< of the first of them, if it had begun
};

/// The file of --state: what a writer has sent, in the order in which it happened, so that a run that was killed can be
/// continued. A unit is in the file before it is sent. Units that are done are removed when the file has grown.
///
/// The file is locked. A record that is cut off at the end of the file, as after a power cut, is ignored; other damage is
/// an error that names the file. What is written is not forced to the disk.
class WriterLog {
 public:
  /// Reads the file if it exists. Throws what GuardedFile throws, std::system_error, and std::runtime_error for a file that is
  /// no such log.
  WriterLog(const std::string& path, bool quiet);
  ~WriterLog();
  WriterLog(const WriterLog&) = delete;
  WriterLog& operator=(const WriterLog&) = delete;

  /// As the file was; nothing for a new file.
  std::optional<WriterState>& state() noexcept { return state_; }

  // All functions that write throw std::system_error that names the file.

  /// Replaces the file.
  void begin(const WriterState& state);
  void add(const InputUnit& unit);
  void print(const InputUnit& unit, const OutputPlace& place);
  void done(const InputUnit& unit, const std::vector<redis_client::WriterPosition>& positions);
  void moved(std::uint32_t shard, const redis_client::WriterPosition& position);
  std::uint64_t num_bytes() const noexcept { return num_bytes_; }

 private:
  void append(char kind, std::string_view payload);

  GuardedFile guard_;
  std::optional<WriterState> state_;
  int file_ = -1;
  std::uint64_t num_bytes_ = 0;
};

}  // namespace tally::cli
