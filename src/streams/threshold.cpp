#include "tally/streams/threshold.hpp"

#include "streams/threshold/impl.hpp"

namespace tally {

ThresholdStream::ThresholdStream(const Options& options, StreamObserver* observer)
    : impl_(std::make_unique<Impl>(options, observer)) {}
ThresholdStream::ThresholdStream(const Options& options, StateReader& state,
                                 const std::optional<HashKey>& key, StreamObserver* observer)
    : impl_(std::make_unique<Impl>(options, state, key, observer)) {}
ThresholdStream::ThresholdStream(ThresholdStream&&) noexcept = default;
ThresholdStream& ThresholdStream::operator=(ThresholdStream&&) noexcept = default;
ThresholdStream::~ThresholdStream() = default;

std::optional<std::uint64_t> ThresholdStream::least_memory_bytes(const Options& options) {
  return detail::least_memory_bytes(options);
}

void ThresholdStream::begin_batch() noexcept { impl_->begin_batch(); }

void ThresholdStream::add_digests(std::span<const Hash128> digests) {
  for (std::size_t first = 0; first < digests.size(); first += Impl::max_digests)
    impl_->add(digests.subspan(first, std::min(Impl::max_digests, digests.size() - first)));
}

std::span<const ReachedKey> ThresholdStream::reached() const noexcept { return impl_->reached(); }
const KeyHasher& ThresholdStream::hasher() const noexcept { return impl_->options().hasher; }
ThresholdStreamStatistics ThresholdStream::statistics() const { return impl_->statistics(); }
std::uint64_t ThresholdStream::memory_bytes_with(std::uint64_t num_keys) const {
  return impl_->memory_bytes_with(num_keys);
}
std::uint64_t ThresholdStream::bytes_of_new_filters(std::uint64_t num_keys) const {
  return impl_->bytes_of_new_filters(num_keys);
}
std::uint64_t ThresholdStream::most_bytes_to_add(std::uint64_t num_keys) const {
  return impl_->most_bytes_to_add(num_keys);
}
std::uint64_t ThresholdStream::planned_keys() const noexcept { return impl_->planned_keys(); }
std::uint64_t ThresholdStream::reported_keys_capacity() const noexcept {
  return impl_->reported_keys_capacity();
}
double ThresholdStream::memory_bytes_to_report_all() const noexcept {
  return impl_->memory_bytes_to_report_all();
}

void ThresholdStream::save(StateWriter& state) const { impl_->save(state); }
void ThresholdStream::restore(StateReader& state, const std::optional<HashKey>& key) {
  impl_->restore(state, key);
}

bool ThresholdStream::can_be_shared() const noexcept { return impl_->can_be_shared(); }

std::size_t ThresholdStream::find_unreported(std::span<const Hash128> digests,
                                             std::span<std::uint32_t> indices) const noexcept {
  return impl_->reported().find_absent(digests, indices);
}

void ThresholdStream::remember_reported(std::span<const Hash128> digests) {
  impl_->reported().remember(digests);
}

std::span<const Hash128> ThresholdStream::add_unreported(std::span<const Hash128> digests,
                                                         std::uint64_t num_others,
                                                         std::uint64_t num_remembered) {
  return impl_->add_unreported(digests, num_others, num_remembered);
}

}  // namespace tally
