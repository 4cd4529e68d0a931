// Numbers in PostgreSQL's binary format: big-endian.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace postrider::postgres {

static_assert(std::endian::native == std::endian::little);

template <std::integral Number>
[[nodiscard]] Number swap_bytes(Number number) {
  using Unsigned = std::make_unsigned_t<Number>;
  const auto bits = static_cast<Unsigned>(number);
  if constexpr (sizeof(Number) == 1) {
    return number;
  } else if constexpr (sizeof(Number) == 2) {
    return static_cast<Number>(__builtin_bswap16(bits));
  } else if constexpr (sizeof(Number) == 4) {
    return static_cast<Number>(__builtin_bswap32(bits));
  } else {
    return static_cast<Number>(__builtin_bswap64(bits));
  }
}

template <std::integral Number>
void append_binary(Number number, std::string& out) {
  const Number swapped = swap_bytes(number);
  char bytes[sizeof swapped];
  std::memcpy(bytes, &swapped, sizeof swapped);
  out.append(bytes, sizeof swapped);
}

template <std::integral Number>
[[nodiscard]] Number read_binary(const char* at) {
  Number number{};
  std::memcpy(&number, at, sizeof number);
  return swap_bytes(number);
}

}  // namespace postrider::postgres
