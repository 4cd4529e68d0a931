#include "core/net/address.h"

#include <algorithm>
#include <charconv>
#include <span>

#include <fmt/format.h>

#include "core/base/parse_number.h"

namespace postrider {
namespace {

constexpr std::size_t v6_groups = 8;

constexpr bool is_digit(char character) { return character >= '0' && character <= '9'; }

// A decimal number up to `maximum`, without sign and leading zeros.
std::optional<unsigned> parse_decimal(std::string_view text, unsigned maximum) {
  if (text.empty() || text.size() > 3 || (text.size() > 1 && text.front() == '0') ||
      !std::ranges::all_of(text, is_digit)) {
    return std::nullopt;
  }
  unsigned number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number <= maximum ? std::optional{number} : std::nullopt;
}

std::optional<std::uint16_t> parse_group(std::string_view text) {
  return text.size() <= 4 ? parse_number<std::uint16_t>(text, 16) : std::nullopt;
}

std::optional<IpAddress> parse_v4(std::string_view text) {
  IpAddress address;
  for (std::size_t part = 0; part < 4; ++part) {
    const std::size_t dot = part < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos) {
      return std::nullopt;
    }
    const std::optional<unsigned> number = parse_decimal(text.substr(0, dot), 255);
    if (!number) {
      return std::nullopt;
    }
    address.bytes[part] = static_cast<std::uint8_t>(*number);
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return address;
}

// Up to eight groups without `::`. The last two may be a dotted quad.
struct GroupRun {
  std::array<std::uint16_t, v6_groups> groups{};
  std::size_t count = 0;

  [[nodiscard]] bool add(std::uint16_t group) {
    if (count == v6_groups) {
      return false;
    }
    groups[count++] = group;
    return true;
  }

  [[nodiscard]] bool add_v4(std::string_view text) {
    const std::optional<IpAddress> quad = parse_v4(text);
    return quad && add(static_cast<std::uint16_t>(quad->bytes[0] << 8 | quad->bytes[1])) &&
           add(static_cast<std::uint16_t>(quad->bytes[2] << 8 | quad->bytes[3]));
  }
};

// `quad_may_end`: this run ends the address, so a dotted quad may follow.
std::optional<GroupRun> parse_groups(std::string_view text, bool quad_may_end) {
  GroupRun run;
  while (!text.empty()) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view part = text.substr(0, colon);
    const bool is_last = colon == text.size();
    if (is_last && quad_may_end && part.find('.') != std::string_view::npos) {
      return run.add_v4(part) ? std::optional{run} : std::nullopt;
    }
    const std::optional<std::uint16_t> group = parse_group(part);
    if (!group || !run.add(*group) || colon + 1 == text.size()) {
      return std::nullopt;
    }
    text.remove_prefix(is_last ? colon : colon + 1);
  }
  return run;
}

std::optional<IpAddress> parse_v6(std::string_view text) {
  const std::size_t gap = text.find("::");
  const bool has_gap = gap != std::string_view::npos;
  const std::optional<GroupRun> head = parse_groups(text.substr(0, gap), !has_gap);
  const std::optional<GroupRun> tail = parse_groups(has_gap ? text.substr(gap + 2) : "", true);
  if (!head || !tail) {
    return std::nullopt;
  }
  // `::` replaces at least one group.
  const std::size_t count = head->count + tail->count;
  if (has_gap ? count >= v6_groups : count != v6_groups) {
    return std::nullopt;
  }
  IpAddress address{.is_v6 = true};
  const auto put = [&address](std::size_t index, std::uint16_t group) {
    address.bytes[2 * index] = static_cast<std::uint8_t>(group >> 8);
    address.bytes[2 * index + 1] = static_cast<std::uint8_t>(group & 0xff);
  };
  for (std::size_t i = 0; i < head->count; ++i) {
    put(i, head->groups[i]);
  }
  for (std::size_t i = 0; i < tail->count; ++i) {
    put(v6_groups - tail->count + i, tail->groups[i]);
  }
  return address;
}

struct ZeroRun {
  std::size_t begin = v6_groups;
  std::size_t length = 1;  // A single zero group is not shortened (RFC 5952).
};

ZeroRun longest_zero_run(std::span<const std::uint16_t, v6_groups> groups) {
  ZeroRun longest;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < v6_groups; ++i) {
    if (groups[i] != 0) {
      begin = i + 1;
    } else if (i + 1 - begin > longest.length) {
      longest = {.begin = begin, .length = i + 1 - begin};
    }
  }
  return longest;
}

std::string v6_to_string(const IpAddress& address) {
  std::array<std::uint16_t, v6_groups> groups{};
  for (std::size_t i = 0; i < v6_groups; ++i) {
    groups[i] = static_cast<std::uint16_t>(address.bytes[2 * i] << 8 | address.bytes[2 * i + 1]);
  }
  const ZeroRun zeros = longest_zero_run(groups);
  std::string text;
  for (std::size_t i = 0; i < v6_groups; ++i) {
    if (i == zeros.begin) {
      text += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') {
      text += ':';
    }
    text += fmt::format("{:x}", groups[i]);
  }
  return text;
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  return text.find(':') == std::string_view::npos ? parse_v4(text) : parse_v6(text);
}

std::string IpAddress::to_string() const {
  if (const std::optional<IpAddress> v4 = unmapped(); v4 && is_v6) {
    return "::ffff:" + v4->to_string();
  }
  return is_v6 ? v6_to_string(*this)
               : fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]);
}

std::optional<IpAddress> IpAddress::unmapped() const {
  constexpr std::array<std::uint8_t, 12> prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!is_v6 || !std::equal(prefix.begin(), prefix.end(), bytes.begin())) {
    return std::nullopt;
  }
  IpAddress v4;
  std::copy_n(bytes.begin() + 12, 4, v4.bytes.begin());
  return v4;
}

std::optional<Cidr> Cidr::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::optional<IpAddress> network = IpAddress::parse(text.substr(0, slash));
  if (!network) {
    return std::nullopt;
  }
  const unsigned length_max = network->is_v6 ? 128 : 32;
  const std::optional<unsigned> length = slash == std::string_view::npos
                                             ? length_max
                                             : parse_decimal(text.substr(slash + 1), length_max);
  if (!length) {
    return std::nullopt;
  }
  const Cidr cidr{.network = *network, .prefix_length = static_cast<std::uint8_t>(*length)};
  for (unsigned bit = *length; bit < length_max; ++bit) {
    if ((network->bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) {
      return std::nullopt;
    }
  }
  return cidr;
}

std::string Cidr::to_string() const {
  return fmt::format("{}/{}", network.to_string(), prefix_length);
}

bool Cidr::contains(const IpAddress& address) const {
  if (address.is_v6 != network.is_v6) {
    return false;
  }
  const std::size_t whole = prefix_length / 8u;
  if (!std::equal(network.bytes.begin(), network.bytes.begin() + whole, address.bytes.begin())) {
    return false;
  }
  const unsigned rest = prefix_length % 8u;
  return rest == 0 || (network.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0;
}

}  // namespace postrider
