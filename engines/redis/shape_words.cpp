#include "shape_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "option_value.hpp"
#include "refusal.hpp"
#include "tally/planner.hpp"

namespace tally::redis {
namespace {

/// What the words say.
struct Request {
  std::optional<FilterKind> kind;
  std::string_view scheme;
  std::optional<std::uint64_t> seed;
  Requirements wanted;

  // The exact shape, with counter_bits, num_subtables, max_doublings, update and threshold in the requirements.
  std::optional<std::uint64_t> num_positions, width, buckets, lines, spill_capacity;
  std::optional<std::uint32_t> num_hashes, depth, num_copies, cells, remainder_bits;
  std::optional<DLeftMoves> moves;

  std::uint64_t given = 0;  ///< bit i: row i of the table
};

// Where an option has a meaning: a bit for the planner, one for a planned structure of each kind, and one for an exact one.
using Places = std::uint32_t;
constexpr Places planner = 1;
constexpr Places planned(FilterKind kind) { return Places{1} << static_cast<int>(kind); }
constexpr Places exact(FilterKind kind) { return Places{1} << (16 + static_cast<int>(kind)); }
template <class... Kinds>
constexpr Places planned(FilterKind kind, Kinds... more) {
  return planned(kind) | planned(more...);
}
template <class... Kinds>
constexpr Places exact(FilterKind kind, Kinds... more) {
  return exact(kind) | exact(more...);
}

using enum FilterKind;
constexpr Places everywhere = ~Places{0};
constexpr Places of_keys = planner | planned(bloom, blocked_bloom, counting_bloom, threshold, dleft,
                                             compact_dleft, blocked_counting_bloom);
constexpr Places of_sizes = of_keys | planned(count_min);
constexpr Places of_positions =
    exact(bloom, blocked_bloom, counting_bloom, threshold, blocked_counting_bloom);
constexpr Places of_thresholds = planner | planned(counting_bloom, threshold, blocked_counting_bloom) |
                                 exact(counting_bloom, threshold, blocked_counting_bloom);
constexpr Places of_dleft_plans = planner | planned(dleft);
constexpr Places of_cells = exact(dleft, compact_dleft);

constexpr std::array<std::string_view, 2> updates{"plain", "conservative"};
constexpr std::array<std::string_view, 3> moves{"none", "first-subtable", "search"};

struct Option {
  std::string_view name;
  Places places;
  bool has_value;
  void (*read)(Request& request, const OptionValue& value);
};

using R = Request;
using V = const OptionValue&;
constexpr bool takes_value = true;
constexpr bool is_flag = false;

constexpr Option options[] = {
    {"kind", everywhere, takes_value,
     [](R& r, V v) {
       std::vector<std::string_view> names;
       for (const KindTraits& traits : all_kinds()) names.push_back(traits.name);
       r.kind = all_kinds()[v.choice(names)].kind;
     }},
    {"scheme", everywhere, takes_value, [](R& r, V v) { r.scheme = v.text; }},
    {"seed", everywhere, takes_value, [](R& r, V v) { r.seed = v.count(0); }},
    {"keys", of_keys, takes_value, [](R& r, V v) { r.wanted.num_keys = v.count(); }},
    {"false-positive-rate", of_keys, takes_value, [](R& r, V v) { r.wanted.false_positive_rate = v.rate(); }},
    {"memory", of_sizes, takes_value, [](R& r, V v) { r.wanted.memory_bytes = v.size(); }},
    {"threshold", of_thresholds, takes_value,
     [](R& r, V v) { r.wanted.threshold = v.count(1, max_threshold_limit); }},
    {"deletes", planner, is_flag, [](R& r, V) { r.wanted.needs_deletes = true; }},
    {"counts", planner, is_flag, [](R& r, V) { r.wanted.needs_counts = true; }},
    {"insertions", planner, takes_value, [](R& r, V v) { r.wanted.num_insertions = v.count(); }},
    {"fastest", planner, is_flag, [](R& r, V) { r.wanted.preference = PlanPreference::fastest; }},
    {"smallest", planner, is_flag, [](R& r, V) { r.wanted.preference = PlanPreference::smallest; }},
    {"balanced", planner, is_flag, [](R& r, V) { r.wanted.preference = PlanPreference::balanced; }},
    {"frequent-keys", of_dleft_plans, takes_value,
     [](R& r, V v) { r.wanted.num_frequent_keys = v.count(0, std::uint64_t{1} << 31); }},
    {"unique-keys", of_dleft_plans | planned(compact_dleft), is_flag,
     [](R& r, V) { r.wanted.keys_repeat = false; }},
    {"lifetime-operations", of_dleft_plans, takes_value,
     [](R& r, V v) { r.wanted.lifetime_operations = v.count(0); }},
    {"failure-probability", of_dleft_plans | planned(count_min), takes_value,
     [](R& r, V v) { r.wanted.failure_probability = v.rate(); }},
    {"max-moves", of_dleft_plans, takes_value,
     [](R& r, V v) { r.wanted.max_moves_per_insertion = v.share(); }},
    {"max-doublings", of_dleft_plans | exact(dleft), takes_value,
     [](R& r, V v) { r.wanted.max_doublings = v.small_count(0, 26); }},
    {"slow-cells", of_dleft_plans, is_flag, [](R& r, V) { r.wanted.prefers_speed = false; }},
    {"num-subtables", planned(dleft) | exact(dleft), takes_value,
     [](R& r, V v) { r.wanted.num_subtables = v.small_count(1, max_num_subtables); }},
    {"update", planned(threshold, count_min) | exact(threshold, count_min), takes_value,
     [](R& r, V v) { r.wanted.update = CounterUpdate{static_cast<std::uint8_t>(v.choice(updates))}; }},
    {"counter-bits",
     planned(counting_bloom, blocked_counting_bloom, count_min) |
         exact(counting_bloom, blocked_counting_bloom, count_min, dleft),
     takes_value, [](R& r, V v) { r.wanted.counter_bits = v.small_count(0, 64); }},
    {"epsilon", planned(count_min), takes_value, [](R& r, V v) { r.wanted.epsilon = v.rate(); }},
    {"total-count", planned(count_min), takes_value, [](R& r, V v) { r.wanted.total_count = v.count(); }},
    {"num-positions", of_positions, takes_value, [](R& r, V v) { r.num_positions = v.count(); }},
    {"num-hashes", of_positions, takes_value, [](R& r, V v) { r.num_hashes = v.small_count(); }},
    {"width", exact(count_min), takes_value, [](R& r, V v) { r.width = v.count(); }},
    {"depth", exact(count_min), takes_value, [](R& r, V v) { r.depth = v.small_count(); }},
    {"copies", exact(count_min), takes_value, [](R& r, V v) { r.num_copies = v.small_count(); }},
    {"buckets-per-subtable", exact(dleft), takes_value, [](R& r, V v) { r.buckets = v.count(); }},
    {"cells-per-bucket", exact(dleft), takes_value, [](R& r, V v) { r.cells = v.small_count(); }},
    {"lines-per-subtable", exact(compact_dleft), takes_value, [](R& r, V v) { r.lines = v.count(); }},
    {"remainder-bits", of_cells, takes_value, [](R& r, V v) { r.remainder_bits = v.small_count(); }},
    {"spill-capacity", of_cells, takes_value, [](R& r, V v) { r.spill_capacity = v.count(0); }},
    {"moves", of_cells, takes_value,
     [](R& r, V v) { r.moves = DLeftMoves{static_cast<std::uint8_t>(v.choice(moves))}; }},
};
static_assert(std::size(options) <= 64);

/// Other names of options and of the fields that the library's errors name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> other_names{
    {{"theta", "threshold"},
     {"max-moves-per-insertion", "max-moves"},
     {"num-keys", "keys"},
     {"memory-bytes", "memory"},
     {"num-bits", "num-positions"},
     {"num-counters", "num-positions"},
     {"max-threshold", "threshold"},
     {"num-frequent-keys", "frequent-keys"},
     {"num-insertions", "insertions"}}};

const Option* find_option(std::string_view word) {
  for (const auto& [other, name] : other_names) {
    if (is_same_word(word, other)) word = name;
  }
  const auto* const found =
      std::ranges::find_if(options, [&](const Option& option) { return is_same_word(option.name, word); });
  return found == std::end(options) ? nullptr : found;
}

Request read_words(const Call& call, std::size_t first) {
  Request request;
  for (std::size_t i = first; i < call.size(); ++i) {
    std::string_view word = call.text(i);
    if (word.starts_with("--")) word.remove_prefix(2);
    const Option* const option = find_option(word);
    if (option == nullptr) {
      throw Refusal(
          "ERR '" + std::string(call.text(i).substr(0, 100)) +
          "' is not an option; give those of 'tally plan' or 'tally build', such as --keys 1000000");
    }
    const std::uint64_t bit = std::uint64_t{1} << (option - options);
    const std::string name(option->name);
    if ((request.given & bit) != 0) throw Refusal("ERR --" + name + ": it is given twice; give it once");
    if (option->has_value && i + 1 == call.size()) throw Refusal("ERR --" + name + ": its value is missing");
    request.given |= bit;
    option->read(request, {option->name, option->has_value ? call.text(++i) : std::string_view()});
  }
  return request;
}

/// Whether an option of an exact shape is given.
bool is_exact(const Request& r) {
  return r.num_positions || r.num_hashes || r.width || r.depth || r.num_copies || r.buckets || r.cells ||
         r.lines || r.remainder_bits || r.spill_capacity || r.moves;
}

/// The kind that is given, or follows from other options.
std::optional<FilterKind> kind_of(const Request& r) {
  if (r.kind) return r.kind;
  if (r.width || r.depth || r.num_copies || r.wanted.epsilon || r.wanted.total_count) return count_min;
  if (r.lines) return compact_dleft;
  if (r.buckets || r.cells || r.remainder_bits || r.spill_capacity || r.moves) return dleft;
  if (r.num_positions || r.num_hashes) return r.wanted.theta() > 1 ? threshold : bloom;
  return std::nullopt;
}

void require_places(const Request& request, Places places, const std::string& what) {
  for (const Option& option : options) {
    const bool is_given = (request.given >> (&option - options) & 1) != 0;
    if (!is_given || (option.places & places) != 0) continue;
    throw Refusal("ERR --" + std::string(option.name) + ": " + what +
                  " does not have this option; leave it out");
  }
}

void require_together(bool are_given, const char* names) {
  if (are_given) return;
  throw Refusal(std::string("ERR ") + names +
                " define a shape together; give all of them, or --keys or --memory instead");
}

FilterShape exact_shape(const Request& r, FilterKind kind) {
  const Requirements& wanted = r.wanted;
  const auto require_positions = [&] {
    require_together(r.num_positions && r.num_hashes, "--num-positions and --num-hashes");
  };
  const auto counting = [&]<class Shape>(Shape shape) {
    require_positions();
    shape.num_counters = *r.num_positions;
    shape.num_hashes = *r.num_hashes;
    shape.counter_bits = wanted.counter_bits.value_or(4);
    shape.max_threshold = wanted.theta();
    return FilterShape{shape};
  };
  switch (kind) {
    case bloom:
      require_positions();
      return {BloomShape{.num_bits = *r.num_positions, .num_hashes = *r.num_hashes}};
    case blocked_bloom:
      require_positions();
      return {BlockedBloomShape{.num_bits = *r.num_positions, .num_hashes = *r.num_hashes}};
    case counting_bloom:
      return counting(CountingBloomShape{});
    case blocked_counting_bloom:
      return counting(BlockedCountingBloomShape{});
    case threshold:
      require_together(r.num_positions && r.num_hashes && wanted.threshold,
                       "--num-positions, --num-hashes and --threshold");
      return {ThresholdShape{.num_counters = *r.num_positions,
                             .num_hashes = *r.num_hashes,
                             .threshold = *wanted.threshold,
                             .update = wanted.update.value_or(CounterUpdate::plain)}};
    case dleft: {
      require_together(wanted.num_subtables && r.buckets && r.cells && r.remainder_bits,
                       "--num-subtables, --buckets-per-subtable, --cells-per-bucket and --remainder-bits");
      const std::uint32_t doublings = wanted.max_doublings.value_or(0);
      if (doublings >= *r.remainder_bits) {
        throw Refusal("ERR --max-doublings: '" + std::to_string(doublings) +
                      "' is too large; must be less than --remainder-bits, which is " +
                      std::to_string(*r.remainder_bits));
      }
      return {DLeftShape{.buckets_per_subtable = *r.buckets,
                         .num_subtables = *wanted.num_subtables,
                         .cells_per_bucket = *r.cells,
                         .remainder_bits = *r.remainder_bits,
                         .counter_bits = wanted.counter_bits.value_or(2),
                         .least_remainder_bits = *r.remainder_bits - doublings,
                         .spill_capacity = r.spill_capacity.value_or(64),
                         .moves = r.moves.value_or(DLeftMoves::search)}};
    }
    case compact_dleft:
      require_together(r.lines && r.remainder_bits, "--lines-per-subtable and --remainder-bits");
      return {CompactDLeftShape{.num_lines_per_subtable = *r.lines,
                                .remainder_bits = *r.remainder_bits,
                                .spill_capacity = r.spill_capacity.value_or(64),
                                .moves = r.moves.value_or(DLeftMoves::search)}};
    case count_min:
      require_together(r.width && r.depth, "--width and --depth");
      return {CountMinShape{.width = *r.width,
                            .depth = *r.depth,
                            .num_copies = r.num_copies.value_or(1),
                            .counter_bits = wanted.counter_bits.value_or(64),
                            .update = wanted.update.value_or(CounterUpdate::plain)}};
  }
  throw std::invalid_argument("unknown kind");
}

/// The requirements with the defaults of the command line.
Requirements completed(const Request& request, bool is_sketch) {
  constexpr double default_rate = 0.01;
  constexpr double default_epsilon = 0.0001;
  Requirements wanted = request.wanted;
  if (is_sketch) {
    if (wanted.epsilon && wanted.memory_bytes && wanted.failure_probability) {
      throw Refusal(
          "ERR --failure-probability: it follows from --epsilon and --memory; leave one of the three out");
    }
    const bool is_failure_open = !wanted.failure_probability && !(wanted.epsilon && wanted.memory_bytes);
    if (!wanted.epsilon && !wanted.memory_bytes) wanted.epsilon = default_epsilon;
    if (is_failure_open) wanted.failure_probability = default_rate;
    return wanted;
  }
  if (wanted.num_keys && wanted.memory_bytes && wanted.false_positive_rate) {
    throw Refusal(
        "ERR --false-positive-rate: it follows from --keys and --memory; leave one of the three out");
  }
  if (!wanted.num_keys && !wanted.memory_bytes) {
    throw Refusal(
        "ERR --keys: it is missing; give the number of distinct keys, or --memory, or --kind and an "
        "exact shape");
  }
  if (!wanted.false_positive_rate && !(wanted.num_keys && wanted.memory_bytes))
    wanted.false_positive_rate = default_rate;
  return wanted;
}

/// What the planner says of a structure of the kind that is given.
ChosenShape planned_kind(const Request& request, FilterKind kind) {
  const bool is_sketch = traits_of(kind).takes_weights;
  if (kind == compact_dleft && request.wanted.keys_repeat) {
    throw Refusal(
        "ERR --unique-keys: a compact-dleft filter is planned for keys that are in it once at a time; "
        "give this option if they are, or give --kind dleft, or an exact shape");
  }
  Requirements wanted = completed(request, is_sketch);
  if (!request.scheme.empty()) wanted.scheme = request.scheme;
  ChosenShape chosen{plan_shape(kind, wanted), "it is the kind that was given", {}, {}, {}, {}};
  if (is_sketch) {
    if (!request.kind) chosen.reason = "its options are those of a count-min sketch";
    return chosen;
  }
  chosen.false_positive_rate = wanted.false_positive_rate;
  chosen.num_keys = wanted.num_keys;
  if (!chosen.num_keys) chosen.num_keys = planned_num_keys(chosen.shape, *wanted.false_positive_rate);
  if (chosen.false_positive_rate) return chosen;
  try {
    for (const Candidate& candidate : plan(wanted).candidates) {
      if (candidate.shape == chosen.shape) chosen.false_positive_rate = candidate.false_positive_rate;
    }
  } catch (const std::invalid_argument&) {  // only this kind meets the requirements
  }
  return chosen;
}

ChosenShape recommended(const Request& request) {
  Requirements wanted = completed(request, false);
  if (!request.scheme.empty()) wanted.scheme = request.scheme;
  Plan made = plan(wanted);
  const Candidate& first = made.recommended();
  return {first.shape,
          made.reason,
          made.warnings,
          first.num_keys,
          first.errors.empty() ? first.false_positive_rate : first.errors.front().false_positive_rate,
          {}};
}

bool is_of_field(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// A message of the library with the options instead of its fields.
std::string with_options(std::string_view message) {
  const std::size_t colon = message.find(": ");
  const std::string_view before = message.substr(0, colon);
  if (colon != std::string_view::npos && std::ranges::all_of(before, is_of_field))
    message.remove_prefix(colon + 2);
  std::string text;
  for (std::size_t at = 0; at < message.size();) {
    std::size_t end = at;
    while (end < message.size() && is_of_field(message[end])) ++end;
    if (end == at) {
      text += message[at++];
      continue;
    }
    std::string word(message.substr(at, end - at));
    const bool is_field = word.find('_') != std::string::npos || at == 0;
    std::string name = word;
    std::ranges::replace(name, '_', '-');
    const Option* const option = is_field ? find_option(name) : nullptr;
    text += option == nullptr ? word : "--" + std::string(option->name);
    at = end;
  }
  return text;
}

ChosenShape chosen_of(const Request& request) {
  const std::optional<FilterKind> kind = kind_of(request);
  if (!kind) {
    require_places(request, planner, "a plan without --kind");
    return recommended(request);
  }
  const std::string name(name_of(*kind));
  if (!is_exact(request)) {
    require_places(request, planned(*kind), "a planned " + name + " structure");
    return planned_kind(request, *kind);
  }
  require_places(request, exact(*kind), "an exact shape of a " + name + " structure");
  FilterShape shape = exact_shape(request, *kind);
  shape.scheme_id =
      request.scheme.empty() ? traits_of(*kind).default_scheme_id : scheme_id_of(*kind, request.scheme);
  check_shape(shape);
  return {shape, "its exact shape was given", {}, {}, {}, {}};
}

}  // namespace

ChosenShape choose_shape(const Call& call, std::size_t first) {
  const Request request = read_words(call, first);
  try {
    ChosenShape chosen = chosen_of(request);
    // Growth is a command of its own, so that replicas follow it whatever their limits are.
    if (auto* const cells = std::get_if<DLeftShape>(&chosen.shape.shape)) cells->grows = false;
    chosen.seed = request.seed;
    return chosen;
  } catch (const std::invalid_argument& error) {
    throw Refusal("ERR " + with_options(error.what()));
  }
}

std::vector<std::string> words_of(const FilterShape& shape) {
  std::vector<std::string> words{"kind", std::string(name_of(shape.kind())), "scheme",
                                 std::string(shape.scheme_name())};
  const auto add = [&](const char* name, auto value) {
    words.emplace_back(name);
    if constexpr (std::is_integral_v<decltype(value)>) words.push_back(std::to_string(value));
    else words.emplace_back(value);
  };
  const auto add_counting = [&](const auto& own) {
    add("num-positions", own.num_counters);
    add("num-hashes", own.num_hashes);
    add("counter-bits", own.counter_bits);
    add("threshold", own.max_threshold);
  };
  std::visit(
      [&]<class Shape>(const Shape& own) {
        if constexpr (requires { own.num_bits; }) {
          add("num-positions", own.num_bits);
          add("num-hashes", own.num_hashes);
        } else if constexpr (requires { own.max_threshold; }) {
          add_counting(own);
        } else if constexpr (requires { own.threshold; }) {
          add("num-positions", own.num_counters);
          add("num-hashes", own.num_hashes);
          add("threshold", own.threshold);
          add("update", name_of(own.update));
        } else if constexpr (requires { own.width; }) {
          add("width", own.width);
          add("depth", own.depth);
          add("copies", own.num_copies);
          add("counter-bits", own.counter_bits);
          add("update", name_of(own.update));
        } else if constexpr (requires { own.num_lines_per_subtable; }) {
          add("lines-per-subtable", own.num_lines_per_subtable);
          add("remainder-bits", own.remainder_bits);
          add("spill-capacity", own.spill_capacity);
          add("moves", name_of(own.moves));
        } else {
          add("num-subtables", own.num_subtables);
          add("buckets-per-subtable", own.buckets_per_subtable);
          add("cells-per-bucket", own.cells_per_bucket);
          add("remainder-bits", own.remainder_bits);
          add("counter-bits", own.counter_bits);
          add("max-doublings", own.remainder_bits - own.least_remainder_bits);
          add("spill-capacity", own.spill_capacity);
          add("moves", name_of(own.moves));
        }
      },
      shape.shape);
  return words;
}

}  // namespace tally::redis
