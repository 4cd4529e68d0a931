#include "api/http/client_address.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include "core/base/trim.h"

namespace postrider::api {
namespace {

constexpr std::size_t entries_max = 64;  // Longer than any real chain of proxies.
constexpr std::size_t group_bytes = 8;   // An IPv6 /64.

/// Removes the port that some proxies add: `192.0.2.1:443`, `[2001:db8::1]:443`.
std::string_view without_port(std::string_view text) {
  if (text.starts_with('[')) {
    return text.substr(1, std::min(text.find(']'), text.size()) - 1);
  }
  const std::size_t colon = text.find(':');
  const bool one_colon = colon != std::string_view::npos && colon == text.rfind(':');
  return one_colon ? text.substr(0, colon) : text;
}

std::optional<IpAddress> parse(std::string_view text) {
  std::optional<IpAddress> address = IpAddress::parse(text);
  if (!address) {
    return std::nullopt;
  }
  return address->unmapped().value_or(*address);
}

/// The X-Forwarded-For entries, nearest proxy first.
std::vector<std::string_view> forwarded_entries(
    const std::vector<std::pair<std::string, std::string>>& headers) {
  std::vector<std::string_view> entries;
  for (const auto& [name, value] : headers) {
    std::string_view rest = value;
    while (name == "x-forwarded-for" && !rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      entries.push_back(trim(rest.substr(0, comma)));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  std::ranges::reverse(entries);
  return entries;
}

}  // namespace

bool is_in(const std::vector<Cidr>& ranges, const IpAddress& address) {
  const IpAddress plain = address.unmapped().value_or(address);
  return std::ranges::any_of(ranges, [&](const Cidr& range) { return range.contains(plain); });
}

std::string client_address(std::string_view peer,
                           const std::vector<std::pair<std::string, std::string>>& headers,
                           const std::vector<Cidr>& trusted) {
  std::optional<IpAddress> client = parse(peer);
  if (!client) {
    return std::string{peer};
  }
  for (const std::string_view entry : forwarded_entries(headers) | std::views::take(entries_max)) {
    if (!is_in(trusted, *client)) {
      break;
    }
    const std::optional<IpAddress> next = parse(without_port(entry));
    if (!next) {
      break;
    }
    client = next;
  }
  return client->to_string();
}

std::string client_group(std::string_view address) {
  std::optional<IpAddress> parsed = parse(address);
  if (!parsed) {
    return std::string{address};
  }
  if (parsed->is_v6) {
    std::fill(parsed->bytes.begin() + group_bytes, parsed->bytes.end(), std::uint8_t{0});
  }
  return parsed->to_string();
}

}  // namespace postrider::api
