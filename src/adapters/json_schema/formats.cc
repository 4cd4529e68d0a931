#include "adapters/json_schema/formats.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/time.h"
#include "core/net/address.h"

namespace postrider::json_schema {
namespace {

constexpr std::array<std::string_view, 5> names = {"date-time", "date", "ipv4", "ipv6", "uuid"};
constexpr std::size_t text_bytes_max = 256;  // More than any date, address or UUID has.

bool is_uuid(std::string_view text) {
  constexpr std::string_view shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::ranges::equal(text, shape, [](char character, char wanted) {
    const char lower = static_cast<char>(character | 0x20);
    const bool is_hex = (character >= '0' && character <= '9') || (lower >= 'a' && lower <= 'f');
    return wanted == 'x' ? is_hex : character == wanted;
  });
}

bool is_date(std::string_view text) {
  return text.size() == 10 && parse_rfc3339(std::string{text} + "T00:00:00Z").has_value();
}

bool is_address(std::string_view text, bool v6) {
  const std::optional<IpAddress> address = IpAddress::parse(text);
  return address && address->is_v6 == v6;
}

}  // namespace

std::optional<Format> find_format(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt
                              : std::optional{static_cast<Format>(found - names.begin())};
}

std::string_view name_of(Format format) { return names.at(static_cast<std::size_t>(format)); }

bool has_format(std::string_view text, Format format) {
  if (text.size() > text_bytes_max) {
    return false;
  }
  switch (format) {
    case Format::date_time:
      return parse_rfc3339(text).has_value();
    case Format::date:
      return is_date(text);
    case Format::ipv4:
      return is_address(text, false);
    case Format::ipv6:
      return is_address(text, true);
    case Format::uuid:
      return is_uuid(text);
  }
  return true;
}

}  // namespace postrider::json_schema
