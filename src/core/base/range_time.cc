#include "core/base/range_time.h"

#include <chrono>
#include <string>

namespace postrider {
namespace {

constexpr std::size_t date_length = 10;

}  // namespace

std::optional<WallTime> parse_date(std::string_view text) {
  return text.size() == date_length ? parse_rfc3339(std::string{text} + "T00:00:00Z")
                                    : std::nullopt;
}

std::optional<WallTime> parse_range_start(std::string_view text) {
  const std::optional<WallTime> date = parse_date(text);
  return date ? date : parse_rfc3339(text);
}

std::optional<WallTime> parse_range_end(std::string_view text) {
  const std::optional<WallTime> date = parse_date(text);
  return date ? std::optional{later(*date, std::chrono::days{1})} : parse_rfc3339(text);
}

}  // namespace postrider
