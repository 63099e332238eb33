#include "filter_value.hpp"

namespace tally::redis {

AnyFilter& FilterValue::filter_to_change(std::span<const Hash128> digests) noexcept {
  if (feed_) feed_->touch(*filter_, digests);
  return *filter_;
}

AnyFilter& FilterValue::filter_to_change() noexcept {
  if (feed_) feed_->touch_all();
  return *filter_;
}

SummaryFeed& FilterValue::summary_feed(std::string_view name) {
  if (!feed_) feed_ = std::make_unique<SummaryFeed>(*filter_, std::string(name));
  return *feed_;
}

void FilterValue::set_parameters(std::string_view, const std::vector<FileHeader>& headers) {
  if (headers.size() != 1) throw FormatError("the dump has several files; must be one", 8);
}

}  // namespace tally::redis
