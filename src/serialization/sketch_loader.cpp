#include "tally/serialization/sketch_loader.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <utility>

#include "serialization/fields.hpp"
#include "serialization/sketch_parts.hpp"

namespace tally {

class SketchLoader::Impl {
 public:
  Impl(std::uint64_t max_body_bytes, const std::optional<HashKey>& key)
      : max_body_bytes_(max_body_bytes), key_(key) {}

  void add(std::span<const std::byte> bytes) {
    const std::uint64_t num_before = num_bytes_;
    try {
      const std::uint64_t num_after = num_before + bytes.size();
      if (sketch_) return detail::check_length(header_.body_bytes, num_after);
      while (!bytes.empty()) {
        const std::span<std::byte> free = free_bytes();
        if (free.empty()) break;
        const auto part = bytes.first(std::min(free.size(), bytes.size()));
        std::ranges::copy(part, free.begin());
        num_bytes_ += part.size();
        bytes = bytes.subspan(part.size());
        if (num_bytes_ == file_header_bytes) begin_body();
      }
      if (!body_ || num_after < file_header_bytes + header_.body_bytes) return;
      detail::check_length(header_.body_bytes, num_after);
      sketch_ = detail::sketch_of_body(header_, header_.hasher(key_), std::move(*body_));
      body_ = std::nullopt;
    } catch (...) {
      if (!sketch_) forget_after(has_body() ? num_before : 0);
      throw;
    }
  }

  std::uint64_t num_bytes() const noexcept { return num_bytes_; }
  bool is_complete() const noexcept { return sketch_.has_value(); }

  std::span<const std::byte> piece(std::uint64_t offset, std::uint64_t max_bytes) const noexcept {
    if (offset >= num_bytes_) return {};
    const auto bytes = part_at(offset);
    return bytes.first(std::min({std::uint64_t{bytes.size()}, max_bytes, num_bytes_ - offset}));
  }

  std::uint64_t memory_bytes() const noexcept { return sizeof *this + (body_ ? header_.body_bytes : 0); }

  AnySketch take() {
    if (!sketch_) {
      throw FormatError("the file ends after " + std::to_string(num_bytes_) + " bytes, too early",
                        num_bytes_);
    }
    return *std::exchange(sketch_, std::nullopt);
  }

 private:
  void begin_body() {
    detail::SketchHeader header = detail::read_sketch_header(header_bytes_);
    if (header.body_bytes > max_body_bytes_) {
      throw FormatError("body length is " + std::to_string(header.body_bytes) + "; must be at most " +
                            std::to_string(max_body_bytes_) + ", the limit of this load",
                        detail::body_bytes_at);
    }
    (void)header.hasher(key_);
    body_.emplace(header);
    header_ = std::move(header);
  }

  /// Whether the body has not gone into a sketch that could not be made.
  bool has_body() const noexcept {
    return !body_ ||
           std::ranges::all_of(body_->counters, [](const auto& words) { return words.size() != 0; });
  }

  void forget_after(std::uint64_t num_bytes) noexcept {
    num_bytes_ = num_bytes;
    if (num_bytes < file_header_bytes) body_.reset();
  }

  /// From `offset` of the file to the end of the part that it is in.
  std::span<const std::byte> part_at(std::uint64_t offset) const noexcept {
    if (offset < file_header_bytes || !body_) {
      return std::span(header_bytes_).subspan(std::min<std::uint64_t>(offset, file_header_bytes));
    }
    offset -= file_header_bytes;
    for (const detail::AlignedWords& words : body_->counters) {
      const auto bytes = std::as_bytes(words.words());
      if (offset < bytes.size()) return bytes.subspan(offset);
      offset -= bytes.size();
    }
    const std::span<const std::byte> candidates(body_->candidates);
    return candidates.subspan(std::min<std::uint64_t>(offset, candidates.size()));
  }
  std::span<std::byte> free_bytes() noexcept {
    const auto part = part_at(num_bytes_);
    return {const_cast<std::byte*>(part.data()), part.size()};  // all of it is this object's own memory
  }

  std::uint64_t max_body_bytes_;
  std::optional<HashKey> key_;
  std::array<std::byte, file_header_bytes> header_bytes_{};
  detail::SketchHeader header_;             // with the body
  std::optional<detail::SketchBody> body_;  // from the end of the header on, until it is the sketch's
  std::uint64_t num_bytes_ = 0;
  std::optional<AnySketch> sketch_;
};

SketchLoader::SketchLoader(std::uint64_t max_body_bytes, const std::optional<HashKey>& key)
    : impl_(std::make_unique<Impl>(max_body_bytes, key)) {}
SketchLoader::SketchLoader(SketchLoader&&) noexcept = default;
SketchLoader& SketchLoader::operator=(SketchLoader&&) noexcept = default;
SketchLoader::~SketchLoader() = default;

void SketchLoader::add(std::span<const std::byte> bytes) { impl_->add(bytes); }
std::uint64_t SketchLoader::num_bytes() const noexcept { return impl_->num_bytes(); }
bool SketchLoader::is_complete() const noexcept { return impl_->is_complete(); }
std::span<const std::byte> SketchLoader::piece(std::uint64_t offset, std::uint64_t max_bytes) const noexcept {
  return impl_->piece(offset, max_bytes);
}
std::uint64_t SketchLoader::memory_bytes() const noexcept { return impl_->memory_bytes(); }
AnySketch SketchLoader::take() && { return impl_->take(); }

}  // namespace tally
