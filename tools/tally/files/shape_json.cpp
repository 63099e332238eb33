#include "files/shape_json.hpp"

#include <fmt/core.h>

#include <limits>
#include <stdexcept>

#include "tally/hashing/scheme_list.hpp"

namespace tally::cli {

namespace {

const Json& field(const Json& shape, const char* name) {
  const Json* const found = shape.find(name);
  if (found == nullptr) throw std::invalid_argument(fmt::format("'{}' is missing", name));
  return *found;
}

std::string word(const Json& shape, const char* name) {
  const auto* const value = field(shape, name).get_if<std::string>();
  if (value == nullptr) throw std::invalid_argument(fmt::format("'{}' must be a string", name));
  return *value;
}

template <class Number>
Number number(const Json& shape, const char* name) {
  const Json& value = field(shape, name);
  const auto* const whole = value.get_if<std::uint64_t>();
  if (whole == nullptr || *whole > std::numeric_limits<Number>::max()) {
    throw std::invalid_argument(fmt::format("'{}' is {}; must be a whole number, 0 to {}", name, value.dump(),
                                            std::numeric_limits<Number>::max()));
  }
  return static_cast<Number>(*whole);
}

CounterUpdate update_of(const Json& shape) {
  if (shape.find("update") == nullptr) return CounterUpdate::plain;
  const std::string name = word(shape, "update");
  for (const CounterUpdate update : {CounterUpdate::plain, CounterUpdate::conservative}) {
    if (name == name_of(update)) return update;
  }
  throw std::invalid_argument(fmt::format("'update' is '{}'; must be plain or conservative", name));
}

DLeftMoves moves_from(const Json& shape) {
  const std::string moves = word(shape, "moves");
  try {
    return moves_of(moves);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("'moves' {}", error.what()));
  }
}

CompactDLeftShape compact_shape_from(const Json& shape) {
  return {.num_lines_per_subtable = number<std::uint64_t>(shape, "num_lines_per_subtable"),
          .remainder_bits = number<std::uint32_t>(shape, "remainder_bits"),
          .spill_capacity = number<std::uint64_t>(shape, "spill_capacity"),
          .moves = moves_from(shape)};
}

DLeftShape dleft_shape_from(const Json& shape) {
  DLeftShape dleft{.buckets_per_subtable = number<std::uint64_t>(shape, "buckets_per_subtable"),
                   .num_subtables = number<std::uint32_t>(shape, "num_subtables"),
                   .cells_per_bucket = number<std::uint32_t>(shape, "cells_per_bucket"),
                   .remainder_bits = number<std::uint32_t>(shape, "remainder_bits"),
                   .counter_bits = number<std::uint32_t>(shape, "counter_bits"),
                   .least_remainder_bits = number<std::uint32_t>(shape, "least_remainder_bits"),
                   .num_doublings = number<std::uint32_t>(shape, "num_doublings"),
                   .spill_capacity = number<std::uint64_t>(shape, "spill_capacity")};
  const auto* const grows = field(shape, "grows").get_if<bool>();
  if (grows == nullptr) throw std::invalid_argument("'grows' must be true or false");
  dleft.grows = *grows;
  dleft.moves = moves_from(shape);
  return dleft;
}

template <class Shape>
Shape counting_shape_from(const Json& shape, std::uint64_t num_positions, std::uint32_t num_hashes) {
  return {.num_counters = num_positions,
          .num_hashes = num_hashes,
          .counter_bits = number<std::uint32_t>(shape, "counter_bits"),
          .max_threshold = number<std::uint64_t>(shape, "threshold")};
}

}  // namespace

DLeftMoves moves_of(std::string_view name) {
  for (const DLeftMoves moves : {DLeftMoves::none, DLeftMoves::first_subtable, DLeftMoves::search}) {
    if (name == name_of(moves)) return moves;
  }
  throw std::invalid_argument(fmt::format("is '{}'; must be none, first-subtable or search", name));
}

Json shape_to_json(const FilterShape& shape) {
  if (const auto* dleft = std::get_if<DLeftShape>(&shape.shape)) {
    return {{"kind", name_of(shape.kind())},
            {"scheme", shape.scheme_name()},
            {"buckets_per_subtable", dleft->buckets_per_subtable},
            {"num_subtables", dleft->num_subtables},
            {"cells_per_bucket", dleft->cells_per_bucket},
            {"remainder_bits", dleft->remainder_bits},
            {"counter_bits", dleft->counter_bits},
            {"least_remainder_bits", dleft->least_remainder_bits},
            {"num_doublings", dleft->num_doublings},
            {"spill_capacity", dleft->spill_capacity},
            {"moves", name_of(dleft->moves)},
            {"grows", dleft->grows}};
  }
  if (const auto* compact = std::get_if<CompactDLeftShape>(&shape.shape)) {
    return {{"kind", name_of(shape.kind())},
            {"scheme", shape.scheme_name()},
            {"num_lines_per_subtable", compact->num_lines_per_subtable},
            {"remainder_bits", compact->remainder_bits},
            {"spill_capacity", compact->spill_capacity},
            {"moves", name_of(compact->moves)}};
  }
  if (const auto* count_min = std::get_if<CountMinShape>(&shape.shape)) {
    return {{"kind", name_of(shape.kind())},       {"scheme", shape.scheme_name()},
            {"width", count_min->width},           {"depth", count_min->depth},
            {"num_copies", count_min->num_copies}, {"counter_bits", count_min->counter_bits},
            {"update", name_of(count_min->update)}};
  }
  Json json{{"kind", name_of(shape.kind())},
            {"scheme", shape.scheme_name()},
            {"num_positions", shape.num_positions()},
            {"num_hashes", shape.num_hashes()}};
  if (shape.kind() != FilterKind::bloom && shape.kind() != FilterKind::blocked_bloom) {
    json["counter_bits"] = shape.counter_bits();
    json["threshold"] = shape.made_for_theta().value_or(0);
  }
  if (const auto* threshold = std::get_if<ThresholdShape>(&shape.shape))
    json["update"] = name_of(threshold->update);
  return json;
}

FilterShape shape_from_json(const Json& json, const std::string& kind) {
  const auto fits = [&](const Json& shape) {
    const Json* const own = shape.find("kind");
    if (own == nullptr || kind.empty()) return own != nullptr;
    const auto* const own_kind = own->get_if<std::string>();
    return own_kind != nullptr && *own_kind == kind;
  };
  if (const Json* const shape = json.find("shape")) return shape_from_json(*shape, kind);
  if (const Json* const candidates = json.find("candidates")) {
    for (const Json& candidate : candidates->elements()) {
      const Json* const own = candidate.find("shape");
      const Json& shape = own != nullptr ? *own : candidate;
      if (fits(shape)) return shape_from_json(shape, kind);
    }
    throw std::invalid_argument(
        fmt::format("no candidate of the kind '{}' found; give another --kind, or leave it out", kind));
  }
  if (!fits(json)) {
    throw std::invalid_argument(fmt::format("no shape{}{} found; give the output of 'tally plan --json'",
                                            kind.empty() ? "" : " of the kind ", kind));
  }
  FilterShape shape;
  const FilterKind named = filter_kind(word(json, "kind"));
  if (named == FilterKind::dleft) {
    shape = {dleft_shape_from(json), bucket_scheme_id(word(json, "scheme"))};
    check_shape(shape);
    return shape;
  }
  if (named == FilterKind::compact_dleft) {
    shape = {compact_shape_from(json), bucket_scheme_id(word(json, "scheme"))};
    check_shape(shape);
    return shape;
  }
  if (named == FilterKind::count_min) {
    shape = {CountMinShape{.width = number<std::uint64_t>(json, "width"),
                           .depth = number<std::uint32_t>(json, "depth"),
                           .num_copies = number<std::uint32_t>(json, "num_copies"),
                           .counter_bits = number<std::uint32_t>(json, "counter_bits"),
                           .update = update_of(json)},
             row_scheme_id(word(json, "scheme"))};
    check_shape(shape);
    return shape;
  }
  shape.scheme_id = scheme_id(word(json, "scheme"));
  const auto num_positions = number<std::uint64_t>(json, "num_positions");
  const auto num_hashes = number<std::uint32_t>(json, "num_hashes");
  switch (named) {
    case FilterKind::bloom:
      shape.shape = BloomShape{.num_bits = num_positions, .num_hashes = num_hashes};
      break;
    case FilterKind::blocked_bloom:
      shape.shape = BlockedBloomShape{.num_bits = num_positions, .num_hashes = num_hashes};
      break;
    case FilterKind::counting_bloom:
      shape.shape = counting_shape_from<CountingBloomShape>(json, num_positions, num_hashes);
      break;
    case FilterKind::blocked_counting_bloom:
      shape.shape = counting_shape_from<BlockedCountingBloomShape>(json, num_positions, num_hashes);
      break;
    case FilterKind::threshold:
      shape.shape = ThresholdShape{.num_counters = num_positions,
                                   .num_hashes = num_hashes,
                                   .threshold = number<std::uint64_t>(json, "threshold"),
                                   .update = update_of(json)};
      break;
    case FilterKind::dleft:
    case FilterKind::count_min:
    case FilterKind::compact_dleft:
      break;  // read above
  }
  check_shape(shape);
  return shape;
}

}  // namespace tally::cli
