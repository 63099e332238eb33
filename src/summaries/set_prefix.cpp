// How many leading blocks of a request each peer may hold.

#include <algorithm>
#include <iterator>

#include "tally/summaries/set.hpp"

namespace tally {
namespace {

using Column = PeerTable::Column;

/// Prefixes are short as often as long: few blocks are read ahead at first, and twice as many each time.
constexpr std::size_t first_window = 4;
constexpr std::size_t largest_window = 64;

/// The columns of one table, while they pass one block after the other.
class PassingColumns {
 public:
  explicit PassingColumns(const PeerTable& table) : table_(table) {}

  bool any() const noexcept { return is_first_ || !columns_.empty(); }

  /// Where the block is, and the prefetch of it.
  void look_ahead(Hash128 digest) {
    const std::size_t first = positions_.size();
    positions_.resize(first + table_.positions().num_hashes());
    table_.positions().find(digest, positions_.data() + first);
    table_.prefetch(positions_.data() + first);
  }

  /// Goes on to the next block that was looked at. Calls visit(column) for every column that does not have it, and had all before.
  template <class Visit>
  void next_block(Visit visit) {
    const std::uint64_t* const block = positions_.data() + num_done_ * table_.positions().num_hashes();
    ++num_done_;
    if (is_first_) {
      table_.find_passing(block, scratch_, columns_);
      is_first_ = false;
    } else if (columns_.size() <= 1 + table_.num_columns() / columns_per_lookup) {
      keep_those([&](Column column) { return table_.passes(column, block); }, visit);
    } else {
      passing_.clear();
      table_.find_passing(block, scratch_, passing_);
      auto next = passing_.begin();
      const auto is_passing = [&](Column column) {
        while (next != passing_.end() && *next < column) ++next;
        return next != passing_.end() && *next == column;
      };
      keep_those(is_passing, visit);
    }
  }

  void forget_blocks() noexcept {
    positions_.clear();
    num_done_ = 0;
  }

  /// Those that have all blocks so far.
  const std::vector<Column>& columns() const noexcept { return columns_; }

 private:
  /// This number of columns is looked up together in the time of one alone.
  static constexpr std::uint64_t columns_per_lookup = 128;

  template <class Keep, class Visit>
  void keep_those(Keep keep, Visit visit) {
    std::erase_if(columns_, [&](Column column) {
      if (keep(column)) return false;
      visit(column);
      return true;
    });
  }

  const PeerTable& table_;
  bool is_first_ = true;
  std::vector<Column> columns_;
  std::vector<Column> passing_;
  std::vector<std::uint64_t> positions_;
  std::size_t num_done_ = 0;
  PeerTable::Scratch scratch_;
};

}  // namespace

std::vector<SummarySet::Prefix> SummarySet::find_prefixes(
    std::size_t num_blocks, const std::function<Hash128(std::size_t)>& digest_of) const {
  std::vector<Prefix> prefixes;
  std::vector<PassingColumns> groups;
  for (const auto& group : groups_) groups.emplace_back(group->table);
  const auto any = [&] { return std::ranges::any_of(groups, &PassingColumns::any); };
  std::size_t window = first_window;
  for (std::size_t first = 0; first < num_blocks && any(); window = std::min(largest_window, 2 * window)) {
    const std::size_t end = std::min(num_blocks, first + window);
    for (std::size_t block = first; block < end; ++block) {
      const Hash128 digest = digest_of(block);
      for (PassingColumns& group : groups)
        if (group.any()) group.look_ahead(digest);
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::vector<Peer>& owners = groups_[g]->owners;
      for (std::size_t block = first; block < end && groups[g].any(); ++block)
        groups[g].next_block([&](Column column) { prefixes.push_back({owners[column], block}); });
      groups[g].forget_blocks();
    }
    first = end;
  }
  if (num_blocks == 0) return prefixes;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const Column column : groups[g].columns())
      prefixes.push_back({groups_[g]->owners[column], num_blocks});
  std::ranges::sort(prefixes, [](const Prefix& a, const Prefix& b) {
    return a.num_blocks != b.num_blocks ? a.num_blocks > b.num_blocks : a.peer < b.peer;
  });
  return prefixes;
}

}  // namespace tally
