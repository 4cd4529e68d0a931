#include "cli/text/time_argument.h"

#include <fmt/format.h>

#include "core/base/parse_number.h"
#include "core/base/range_time.h"

namespace postrider::cli {
namespace {

std::optional<std::chrono::seconds> unit_of(char letter) {
  switch (letter) {
    case 's':
      return std::chrono::seconds{1};
    case 'm':
      return std::chrono::minutes{1};
    case 'h':
      return std::chrono::hours{1};
    case 'd':
      return std::chrono::hours{24};
    case 'w':
      return std::chrono::hours{24 * 7};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::chrono::seconds> parse_duration(std::string_view text) {
  constexpr std::uint32_t count_max = 100'000;
  const std::optional<std::chrono::seconds> unit =
      text.empty() ? std::nullopt : unit_of(text.back());
  const auto count =
      parse_number<std::uint32_t>(text.substr(0, text.empty() ? 0 : text.size() - 1));
  if (!unit || !count || *count > count_max) {
    return std::nullopt;
  }
  return *unit * static_cast<std::int64_t>(*count);
}

std::optional<WallTime> parse_time_argument(std::string_view text, WallTime now) {
  if (const std::optional<WallTime> time = parse_rfc3339(text)) {
    return time;
  }
  const std::optional<std::chrono::seconds> ago = parse_duration(text);
  return ago ? std::optional{now - *ago} : std::nullopt;
}

Result<std::string> time_argument(std::string_view flag, std::string_view text, WallTime now) {
  if (parse_date(text)) {
    return std::string{text};  // The server knows whether the day's start or end is meant.
  }
  const std::optional<WallTime> time = parse_time_argument(text, now);
  if (!time) {
    return fail(
        Errc::invalid,
        fmt::format("{}: `{}` is not a valid time. Use RFC 3339, for example "
                    "2026-01-31T10:00:00Z, a date such as 2026-01-31 (UTC), or a duration before "
                    "now: 90s, 15m, 2h, 7d.",
                    flag, text));
  }
  return to_rfc3339(*time);
}

Result<std::string> later_argument(std::string_view flag, std::string_view text, WallTime now) {
  if (const std::optional<WallTime> time = parse_rfc3339(text)) {
    return to_rfc3339(*time);
  }
  const std::optional<std::chrono::seconds> wait = parse_duration(text);
  if (!wait) {
    return fail(Errc::invalid,
                fmt::format("{}: `{}` is not a valid time. Use RFC 3339, for example "
                            "2026-01-31T10:00:00Z, or a duration from now: 90s, 15m, 2h, 7d.",
                            flag, text));
  }
  return to_rfc3339(now + *wait);
}

Result<std::chrono::seconds> duration_argument(std::string_view flag, std::string_view text) {
  const std::optional<std::chrono::seconds> duration = parse_duration(text);
  if (!duration) {
    return fail(
        Errc::invalid,
        fmt::format("{}: `{}` is not a valid duration. Use, for example, 90s, 15m, 2h or 7d.", flag,
                    text));
  }
  return *duration;
}

}  // namespace postrider::cli
