#include "core/base/ids.h"

#include <algorithm>

#include "core/base/random.h"

namespace postrider {
namespace {

constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t text_length = 26;  // 130 bits. The top two are always zero.

constexpr auto digit_values = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t digit = 0; digit < alphabet.size(); ++digit) {
    values[static_cast<unsigned char>(alphabet[digit])] = static_cast<std::int8_t>(digit);
  }
  return values;
}();

}  // namespace

std::string to_base32(const Uuid& uuid) {
  std::string text(text_length, '0');
  std::uint32_t buffer = 0;
  int bits = 2;  // Two leading zero bits extend 128 to 130, a multiple of five.
  std::size_t next = 0;
  for (const std::uint8_t byte : uuid) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text[next++] = alphabet[(buffer >> bits) & 31u];
    }
  }
  return text;
}

std::optional<Uuid> parse_base32(std::string_view text) {
  if (text.size() != text_length || digit_values[static_cast<unsigned char>(text[0])] > 7) {
    return std::nullopt;
  }
  Uuid uuid{};
  std::uint32_t buffer = 0;
  int bits = -2;
  std::size_t next = 0;
  for (const char character : text) {
    const std::int8_t value = digit_values[static_cast<unsigned char>(character)];
    if (value < 0) {
      return std::nullopt;
    }
    buffer = (buffer << 5) | static_cast<std::uint32_t>(value);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      uuid[next++] = static_cast<std::uint8_t>(buffer >> bits);
    }
  }
  return uuid;
}

Uuid UuidGenerator::next(WallTime now) {
  const std::int64_t now_ms = std::max<std::int64_t>(to_unix_ms(now), 0);
  if (now_ms > last_ms_) {
    last_ms_ = now_ms;
    counter_ = 0;
  } else if (++counter_ > 0xfff) {
    ++last_ms_;  // The counter is exhausted: use the next millisecond to keep the order.
    counter_ = 0;
  }
  const std::uint64_t random = splitmix64(state_);

  Uuid uuid{};
  for (std::size_t byte = 0; byte < 6; ++byte) {
    uuid[byte] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(last_ms_) >> (40 - 8 * byte));
  }
  uuid[6] = static_cast<std::uint8_t>(0x70 | (counter_ >> 8));
  uuid[7] = static_cast<std::uint8_t>(counter_ & 0xff);
  for (std::size_t byte = 0; byte < 8; ++byte) {
    uuid[8 + byte] = static_cast<std::uint8_t>(random >> (56 - 8 * byte));
  }
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3f) | 0x80);
  return uuid;
}

}  // namespace postrider
