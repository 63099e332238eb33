#include "input/event_time.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <span>

namespace tally::cli {
namespace {

constexpr Nanoseconds most_seconds = 4'600'000'000;  // so that a difference fits too

/// Consumes what it reads from the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  bool at_digit() const { return !text_.empty() && text_[0] >= '0' && text_[0] <= '9'; }

  bool take(char wanted) {
    if (text_.empty() || text_[0] != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool take_any(std::string_view wanted) {
    return std::any_of(wanted.begin(), wanted.end(), [&](char c) { return take(c); });
  }

  /// Exactly `count` digits with a value of at most `most`; otherwise it fails.
  std::int64_t digits(int count, std::int64_t most) {
    std::int64_t value = 0;
    for (int i = 0; i < count; ++i) value = 10 * value + digit();
    failed_ |= value > most;
    return value;
  }

  struct Whole {
    std::int64_t value = 0;
    int num_digits = 0;
  };
  /// All digits that follow, at least one and at most 19.
  Whole whole() {
    Whole whole{digit(), 1};
    for (; at_digit(); ++whole.num_digits) {
      failed_ |= whole.num_digits == 19 || whole.value > (std::numeric_limits<std::int64_t>::max() - 9) / 10;
      if (failed_) return {};
      whole.value = 10 * whole.value + digit();
    }
    return whole;
  }

  /// At least one.
  void blanks() {
    expect(' ');
    while (take(' ')) {
    }
  }

  /// ".25" or ",25" as nanoseconds; further digits are dropped. 0 if there is none.
  Nanoseconds fraction() {
    if (!take_any(".,")) return 0;
    Nanoseconds value = 0;
    Nanoseconds unit = nanoseconds_per_second;
    failed_ |= !at_digit();
    while (at_digit()) value += digit() * (unit /= 10);
    return value;
  }

  std::int64_t month_name() {
    constexpr std::array<std::string_view, 12> names{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::optional<std::int64_t> month = name_of(names);
    return month ? *month : fail();
  }
  /// Consumes the name of a weekday and the blanks after it, if there is one.
  void skip_weekday() {
    constexpr std::array<std::string_view, 7> names{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    if (!name_of(names)) return;
    (void)take(',');
    blanks();
  }

  /// Seconds east of UTC: Z, +01:00, +0100 or +01.
  std::int64_t zone() {
    if (take_any("Zz")) return 0;
    const bool is_west = take('-');
    if (!is_west && !take('+')) return fail();
    const std::int64_t hours = digits(2, 23);
    (void)take(':');
    const std::int64_t minutes = at_digit() ? digits(2, 59) : 0;
    return (is_west ? -60 : 60) * (60 * hours + minutes);
  }

  void expect(char wanted) { failed_ |= !take(wanted); }
  std::int64_t fail() {
    failed_ = true;
    return 0;
  }
  bool failed() const { return failed_; }

 private:
  /// The number of the name, from 1 on.
  std::optional<std::int64_t> name_of(std::span<const std::string_view> names) {
    const auto found = std::find(names.begin(), names.end(), text_.substr(0, 3));
    if (found == names.end()) return std::nullopt;
    text_.remove_prefix(3);
    return found - names.begin() + 1;
  }

  std::int64_t digit() {
    if (!at_digit()) return fail();
    const std::int64_t value = text_[0] - '0';
    text_.remove_prefix(1);
    return value;
  }

  std::string_view text_;
  bool failed_ = false;
};

std::int64_t seconds_of_day(Scanner& scanner, bool needs_seconds) {
  std::int64_t seconds = 3600 * scanner.digits(2, 24);
  scanner.expect(':');
  seconds += 60 * scanner.digits(2, 59);
  if (!scanner.take(':')) return needs_seconds ? scanner.fail() : seconds;
  return seconds + scanner.digits(2, 60);  // a leap second
}

std::optional<std::int64_t> seconds_of_date(std::int64_t year, std::int64_t month, std::int64_t day) {
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return std::nullopt;
  return std::int64_t{86400} * std::chrono::sys_days(date).time_since_epoch().count();
}

std::optional<Nanoseconds> from_seconds(std::int64_t seconds, Nanoseconds fraction) {
  if (seconds > most_seconds || seconds < -most_seconds) return std::nullopt;
  return nanoseconds_per_second * seconds + fraction;
}

/// The unit of a number with that many digits: seconds have at most 10 up to the year 2286, and the others begin in 2001.
Nanoseconds unit_of(int num_digits) {
  if (num_digits >= 19) return 1;
  if (num_digits >= 16) return 1000;
  return num_digits >= 13 ? 1'000'000 : nanoseconds_per_second;
}

std::optional<Nanoseconds> parse_unix(Scanner scanner) {
  const bool is_negative = scanner.take('-');
  const auto [value, num_digits] = scanner.whole();
  const Nanoseconds unit = unit_of(num_digits);
  const Nanoseconds fraction = scanner.fraction() / (nanoseconds_per_second / unit);
  if (scanner.failed() || !scanner.at_end()) return std::nullopt;
  if (value > most_seconds * (nanoseconds_per_second / unit)) return std::nullopt;
  return (is_negative ? -1 : 1) * (value * unit + fraction);
}

std::optional<Nanoseconds> parse_iso(Scanner scanner) {
  const std::int64_t year = scanner.digits(4, 9999);
  scanner.expect('-');
  const std::int64_t month = scanner.digits(2, 12);
  scanner.expect('-');
  const auto date = seconds_of_date(year, month, scanner.digits(2, 31));
  std::int64_t seconds = 0;
  Nanoseconds fraction = 0;
  if (scanner.take_any("Tt ")) {
    seconds = seconds_of_day(scanner, false);
    fraction = scanner.fraction();
    (void)scanner.take(' ');
    if (!scanner.at_end()) seconds -= scanner.zone();
  }
  if (scanner.failed() || !scanner.at_end() || !date) return std::nullopt;
  return from_seconds(*date + seconds, fraction);
}

std::optional<Nanoseconds> parse_access_log(Scanner scanner) {
  const bool in_brackets = scanner.take('[');
  const std::int64_t day = scanner.digits(2, 31);
  scanner.expect('/');
  const std::int64_t month = scanner.month_name();
  scanner.expect('/');
  const auto date = seconds_of_date(scanner.digits(4, 9999), month, day);
  scanner.expect(':');
  std::int64_t seconds = seconds_of_day(scanner, true);
  const Nanoseconds fraction = scanner.fraction();
  if (scanner.take(' ')) seconds -= scanner.zone();
  if (in_brackets) (void)scanner.take(']');  // absent if the field ends at the blank before the zone
  if (scanner.failed() || !scanner.at_end() || !date) return std::nullopt;
  return from_seconds(*date + seconds, fraction);
}

/// The year, of the latest possible ones, in which the day is not later than tomorrow.
std::int64_t year_of(std::int64_t month, std::int64_t day, Nanoseconds now) {
  constexpr std::int64_t longest_gap = 8;  // between two leap years
  const auto tomorrow = std::chrono::floor<std::chrono::days>(
                            std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(now))) +
                        std::chrono::days(1);
  const std::int64_t latest = static_cast<int>(std::chrono::year_month_day(tomorrow).year());
  for (std::int64_t year = latest; year >= latest - longest_gap; --year) {
    const auto date = seconds_of_date(year, month, day);
    if (date && *date <= std::chrono::seconds(tomorrow.time_since_epoch()).count()) return year;
  }
  return latest;
}

/// Syslog, and what C calls asctime, in which the year comes last.
std::optional<Nanoseconds> parse_syslog(Scanner scanner, Nanoseconds now) {
  scanner.skip_weekday();
  const std::int64_t month = scanner.month_name();
  scanner.blanks();
  const Scanner::Whole day = scanner.whole();
  scanner.blanks();
  const std::int64_t seconds = seconds_of_day(scanner, true);
  const Nanoseconds fraction = scanner.fraction();
  if (scanner.failed() || day.num_digits > 2) return std::nullopt;
  std::int64_t year = 0;
  if (scanner.at_end()) {
    year = year_of(month, day.value, now);
  } else {
    scanner.blanks();
    year = scanner.digits(4, 9999);
  }
  const auto date = seconds_of_date(year, month, day.value);
  if (scanner.failed() || !scanner.at_end() || !date) return std::nullopt;
  return from_seconds(*date + seconds, fraction);
}

}  // namespace

std::optional<Nanoseconds> parse_time(std::string_view text, Nanoseconds now) {
  const Scanner scanner(text);
  if (const auto time = parse_unix(scanner)) return time;
  if (const auto time = parse_iso(scanner)) return time;
  if (const auto time = parse_access_log(scanner)) return time;
  return parse_syslog(scanner, now);
}

Nanoseconds time_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string time_text(Nanoseconds time) {
  const std::chrono::sys_time<std::chrono::nanoseconds> point{std::chrono::nanoseconds(time)};
  const auto day = std::chrono::floor<std::chrono::days>(point);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(point - day);
  std::string fraction = fmt::format(".{:09}", clock.subseconds().count());
  fraction.erase(fraction.find_last_not_of('0') + 1);
  if (fraction == ".") fraction.clear();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(), fraction);
}

}  // namespace tally::cli
