#pragma once

#include <cstdint>
#include <vector>

#include "random.hpp"
#include "tally/hashing/mix64.hpp"
#include "weighted_draw.hpp"

namespace tally::experiments {

/// Requests to language models, as blocks of tokens: a block is named by its own tokens and all before them, so that two
/// requests share a block only if they share the prefix up to it.
struct BlockTraceShape {
  std::uint64_t num_prompts = 40;            ///< system prompts, by Zipf's law
  std::uint64_t documents_per_prompt = 100;  ///< which follow a prompt, by Zipf's law
  double exponent = 1;                       ///< of both
  std::uint64_t num_sessions = 2000;         ///< that go on at any one time
  double share_of_new_sessions = 0.3;        ///< of the requests; all others continue one
  std::uint64_t most_blocks = 256;           ///< a session that comes to this many ends
};

struct BlockRequest {
  std::uint64_t session = 0;
  std::vector<std::uint64_t> blocks;
};

/// A request is a prompt of 8 to 64 blocks, a document of 16 to 128, and the turns of its session, of 2 to 12 each.
class BlockTrace {
 public:
  BlockTrace(const BlockTraceShape& shape, std::uint64_t seed)
      : shape_(shape),
        random_(seed),
        prompts_(test::WeightedDraw::by_zipf(shape.num_prompts, shape.exponent)),
        documents_(test::WeightedDraw::by_zipf(shape.documents_per_prompt, shape.exponent)) {
    while (sessions_.size() < shape.num_sessions) sessions_.push_back(new_session());
  }

  BlockRequest next() {
    const std::uint64_t at = random_.below(sessions_.size());
    BlockRequest& session = sessions_[at];
    const bool is_new = test::uniform(random_) < shape_.share_of_new_sessions;
    if (is_new || session.blocks.size() + 12 > shape_.most_blocks) session = new_session();
    append(session.blocks, 3, random_.next(), random_.between(2, 12));
    return session;
  }

 private:
  /// Blocks whose names follow from what is before them and from `contents`.
  static void append(std::vector<std::uint64_t>& blocks, std::uint64_t kind, std::uint64_t contents,
                     std::uint64_t number) {
    for (std::uint64_t i = 0; i < number; ++i) {
      const std::uint64_t before = blocks.empty() ? 0 : blocks.back();
      blocks.push_back(mix64(mix64(before ^ mix64(contents)) + 1000 * kind + i));
    }
  }

  BlockRequest new_session() {
    const std::uint64_t prompt = prompts_(random_);
    const std::uint64_t document = documents_(random_);
    BlockRequest session{random_.next(), {}};
    append(session.blocks, 1, prompt, 8 + mix64(prompt) % 57);
    append(session.blocks, 2, document, 16 + mix64(1000 * prompt + document) % 113);
    return session;
  }

  BlockTraceShape shape_;
  test::Random random_;
  test::WeightedDraw prompts_;
  test::WeightedDraw documents_;
  std::vector<BlockRequest> sessions_;
};

}  // namespace tally::experiments
