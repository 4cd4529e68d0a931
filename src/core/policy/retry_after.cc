#include <algorithm>
#include <array>

#include "core/base/scanner.h"
#include "core/base/trim.h"
#include "core/policy/retry.h"

namespace postrider {
namespace {

namespace chrono = std::chrono;

constexpr std::array<std::string_view, 7> short_days = {"Mon", "Tue", "Wed", "Thu",
                                                        "Fri", "Sat", "Sun"};
constexpr std::array<std::string_view, 7> long_days = {
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/// A date while it is parsed. The day of the week is not checked: a receiver that gets it wrong
/// still means the date.
struct HttpDate {
  int year = 0;
  int month = 0;
  int day = 0;
  chrono::seconds time_of_day{0};
};

bool scan_number(Scanner& scanner, std::size_t digits, int& number) {
  const std::optional<int> scanned = scanner.digits(digits);
  number = scanned.value_or(0);
  return scanned.has_value();
}

bool scan_month(Scanner& scanner, HttpDate& date) {
  const std::optional<std::size_t> index = scanner.word(months);
  date.month = static_cast<int>(index.value_or(0)) + 1;
  return index.has_value();
}

bool scan_time(Scanner& scanner, HttpDate& date) {
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  if (!scan_number(scanner, 2, hours) || !scanner.skip(":") || !scan_number(scanner, 2, minutes) ||
      !scanner.skip(":") || !scan_number(scanner, 2, seconds)) {
    return false;
  }
  date.time_of_day = chrono::hours{hours} + chrono::minutes{minutes} + chrono::seconds{seconds};
  return hours <= 23 && minutes <= 59 && seconds <= 60;
}

std::optional<WallTime> to_wall_time(const HttpDate& date) {
  const chrono::year_month_day calendar{chrono::year{date.year},
                                        chrono::month{static_cast<unsigned>(date.month)},
                                        chrono::day{static_cast<unsigned>(date.day)}};
  if (!calendar.ok()) {
    return std::nullopt;
  }
  return WallTime{chrono::sys_days{calendar}.time_since_epoch() + date.time_of_day};
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`
std::optional<WallTime> parse_imf_fixdate(std::string_view text) {
  Scanner scanner{text};
  HttpDate date;
  const bool fits = scanner.word(short_days) && scanner.skip(", ") &&
                    scan_number(scanner, 2, date.day) && scanner.skip(" ") &&
                    scan_month(scanner, date) && scanner.skip(" ") &&
                    scan_number(scanner, 4, date.year) && scanner.skip(" ") &&
                    scan_time(scanner, date) && scanner.skip(" GMT") && scanner.at_end();
  return fits ? to_wall_time(date) : std::nullopt;
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`. A two-digit year more than 50 years in the future means the
/// previous century (RFC 9110, 5.6.7).
std::optional<WallTime> parse_rfc850_date(std::string_view text, WallTime now) {
  Scanner scanner{text};
  HttpDate date;
  const bool fits = scanner.word(long_days) && scanner.skip(", ") &&
                    scan_number(scanner, 2, date.day) && scanner.skip("-") &&
                    scan_month(scanner, date) && scanner.skip("-") &&
                    scan_number(scanner, 2, date.year) && scanner.skip(" ") &&
                    scan_time(scanner, date) && scanner.skip(" GMT") && scanner.at_end();
  if (!fits) {
    return std::nullopt;
  }
  const chrono::sys_days today{chrono::floor<chrono::days>(now.time_since_epoch())};
  const int this_year = static_cast<int>(chrono::year_month_day{today}.year());
  date.year += this_year - this_year % 100;
  if (date.year > this_year + 50) {
    date.year -= 100;
  } else if (date.year + 50 <= this_year) {
    date.year += 100;
  }
  return to_wall_time(date);
}

/// `Sun Nov  6 08:49:37 1994`
std::optional<WallTime> parse_asctime(std::string_view text) {
  Scanner scanner{text};
  HttpDate date;
  const bool fits = scanner.word(short_days) && scanner.skip(" ") && scan_month(scanner, date) &&
                    scanner.skip(" ") &&
                    scan_number(scanner, scanner.skip(" ") ? 1 : 2, date.day) &&
                    scanner.skip(" ") && scan_time(scanner, date) && scanner.skip(" ") &&
                    scan_number(scanner, 4, date.year) && scanner.at_end();
  return fits ? to_wall_time(date) : std::nullopt;
}

std::optional<Millis> parse_seconds(std::string_view text) {
  Scanner scanner{text};
  std::optional<int> digit = scanner.digit();
  if (!digit) {
    return std::nullopt;
  }
  chrono::seconds seconds{0};
  for (; digit; digit = scanner.digit()) {
    seconds = std::min<chrono::seconds>(seconds * 10 + chrono::seconds{*digit},
                                        chrono::duration_cast<chrono::seconds>(retry_after_max));
  }
  return scanner.at_end() ? std::optional<Millis>{seconds} : std::nullopt;
}

}  // namespace

std::optional<Millis> parse_retry_after(std::string_view text, WallTime now) {
  text = trim(text);
  if (const std::optional<Millis> seconds = parse_seconds(text)) {
    return seconds;
  }
  std::optional<WallTime> date = parse_imf_fixdate(text);
  if (!date) {
    date = parse_rfc850_date(text, now);
  }
  if (!date) {
    date = parse_asctime(text);
  }
  if (!date) {
    return std::nullopt;
  }
  return std::clamp(*date - now, Millis{0}, retry_after_max);
}

}  // namespace postrider
