#include "core/base/time.h"

#include <span>

#include "core/base/scanner.h"

namespace postrider {
namespace {

namespace chrono = std::chrono;

std::optional<chrono::sys_days> scan_date(Scanner& scanner) {
  const std::optional<int> year = scanner.digits(4);
  if (!year || !scanner.skip("-")) {
    return std::nullopt;
  }
  const std::optional<int> month = scanner.digits(2);
  if (!month || !scanner.skip("-")) {
    return std::nullopt;
  }
  const std::optional<int> day = scanner.digits(2);
  if (!day) {
    return std::nullopt;
  }
  const chrono::year_month_day date{chrono::year{*year},
                                    chrono::month{static_cast<unsigned>(*month)},
                                    chrono::day{static_cast<unsigned>(*day)}};
  return date.ok() ? std::optional{chrono::sys_days{date}} : std::nullopt;
}

std::optional<chrono::minutes> scan_hours_and_minutes(Scanner& scanner) {
  const std::optional<int> hours = scanner.digits(2);
  if (!hours || *hours > 23 || !scanner.skip(":")) {
    return std::nullopt;
  }
  const std::optional<int> minutes = scanner.digits(2);
  if (!minutes || *minutes > 59) {
    return std::nullopt;
  }
  return chrono::hours{*hours} + chrono::minutes{*minutes};
}

/// `.123456`, or nothing, which is zero.
std::optional<Millis> scan_fraction(Scanner& scanner) {
  if (!scanner.skip(".")) {
    return Millis{0};
  }
  std::optional<int> digit = scanner.digit();
  if (!digit) {
    return std::nullopt;
  }
  Millis fraction{0};
  for (int weight = 100; digit; weight /= 10, digit = scanner.digit()) {
    fraction += Millis{*digit * weight};
  }
  return fraction;
}

/// The offset to subtract from the local time to get UTC.
std::optional<chrono::minutes> scan_offset(Scanner& scanner) {
  const std::optional<char> sign = scanner.one_of("Zz+-");
  if (!sign) {
    return std::nullopt;
  }
  if (*sign == 'Z' || *sign == 'z') {
    return chrono::minutes{0};
  }
  const std::optional<chrono::minutes> offset = scan_hours_and_minutes(scanner);
  return offset && *sign == '-' ? std::optional{-*offset} : offset;
}

/// Fills `place` with the decimal digits of `number`, with leading zeros.
void put_digits(std::span<char> place, std::int64_t number) {
  for (std::size_t left = place.size(); left > 0; number /= 10) {
    place[--left] = static_cast<char>('0' + number % 10);
  }
}

}  // namespace

// Formats by hand because every delivery needs several of these, and a general formatter takes
// twenty times as long.
std::string to_rfc3339(WallTime time) {
  const Millis since_epoch = std::clamp(time, wall_time_min, wall_time_max).time_since_epoch();
  const chrono::sys_time<Millis> when{since_epoch};
  const chrono::sys_days midnight = chrono::floor<chrono::days>(when);
  const chrono::year_month_day date{midnight};
  const chrono::hh_mm_ss clock{when - midnight};
  std::string text = "0000-00-00T00:00:00.000Z";
  const std::span<char> place{text};
  put_digits(place.subspan(0, 4), static_cast<int>(date.year()));
  put_digits(place.subspan(5, 2), static_cast<unsigned>(date.month()));
  put_digits(place.subspan(8, 2), static_cast<unsigned>(date.day()));
  put_digits(place.subspan(11, 2), clock.hours().count());
  put_digits(place.subspan(14, 2), clock.minutes().count());
  put_digits(place.subspan(17, 2), clock.seconds().count());
  put_digits(place.subspan(20, 3), clock.subseconds().count());
  return text;
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  Scanner scanner{text};
  const std::optional<chrono::sys_days> date = scan_date(scanner);
  if (!date || !scanner.one_of("Tt ")) {
    return std::nullopt;
  }
  const std::optional<chrono::minutes> minutes = scan_hours_and_minutes(scanner);
  if (!minutes || !scanner.skip(":")) {
    return std::nullopt;
  }
  const std::optional<int> seconds = scanner.digits(2);
  if (!seconds || *seconds > 60) {
    return std::nullopt;
  }
  const std::optional<Millis> fraction = scan_fraction(scanner);
  if (!fraction) {
    return std::nullopt;
  }
  const std::optional<chrono::minutes> offset = scan_offset(scanner);
  if (!offset || !scanner.at_end()) {
    return std::nullopt;
  }
  // A leap second (60) adds up to the first second of the next minute without special treatment.
  return WallTime{date->time_since_epoch() + *minutes + chrono::seconds{*seconds} + *fraction -
                  *offset};
}

}  // namespace postrider
