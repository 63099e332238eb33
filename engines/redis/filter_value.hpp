#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis_module_api.hpp"
#include "stored_value.hpp"
#include "summary_feed.hpp"

namespace tally::redis {

/// A filter or sketch of any kind.
class FilterValue final : public StoredValue {
 public:
  static constexpr const char* type_name = "tallyfilt";
  static constexpr std::string_view first_bytes = "TALLYFI1";  ///< of a dump
  inline static api::Type* type = nullptr;

  /// For a load.
  FilterValue() = default;
  explicit FilterValue(AnyFilter filter) : filter_(std::move(filter)) {}
  /// Nobody follows the copy yet.
  FilterValue(const FilterValue& other) : StoredValue(other), filter_(other.filter_) {}

  const AnyFilter& filter() const noexcept { return *filter_; }
  /// For changes by these items.
  AnyFilter& filter_to_change(std::span<const Hash128> digests) noexcept;
  /// For any other change.
  AnyFilter& filter_to_change() noexcept;

  /// The first call begins the versions. `name` is that of the key.
  SummaryFeed& summary_feed(std::string_view name);

 private:
  std::unique_ptr<AnyValue> copy_without_journal() const override {
    return std::make_unique<FilterValue>(*this);
  }
  bool is_one_file() const noexcept override { return true; }
  std::string_view magic() const noexcept override { return first_bytes; }
  std::string parameters() const override { return {}; }
  std::vector<FilterView> filters() const override { return {*filter_}; }
  void set_parameters(std::string_view bytes, const std::vector<FileHeader>& headers) override;
  void take(std::vector<AnyFilter> filters) override { filter_ = std::move(filters.front()); }

  std::uint64_t other_bytes() const noexcept override { return feed_ ? feed_->memory_bytes() : 0; }

  std::optional<AnyFilter> filter_;
  std::unique_ptr<SummaryFeed> feed_;
};

}  // namespace tally::redis
