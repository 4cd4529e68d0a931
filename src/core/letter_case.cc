#include "core/letter_case.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace postrider {
namespace {

// Upper case letters from `first` to `last`, every `step`th of them, become lower by `distance`.
struct LetterRange {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t step;
  std::int32_t distance;
};

// Left out: letters whose counterpart is of another length (İ, ſ) or which have none.
constexpr std::array<LetterRange, 20> ranges = {{
    {0x00C0, 0x00D6, 1, 32},   {0x00D8, 0x00DE, 1, 32}, {0x0100, 0x012E, 2, 1},
    {0x0132, 0x0136, 2, 1},    {0x0139, 0x0147, 2, 1},  {0x014A, 0x0176, 2, 1},
    {0x0178, 0x0178, 1, -121}, {0x0179, 0x017D, 2, 1},  {0x0386, 0x0386, 1, 38},
    {0x0388, 0x038A, 1, 37},   {0x038C, 0x038C, 1, 64}, {0x038E, 0x038F, 1, 63},
    {0x0391, 0x03A1, 1, 32},   {0x03A3, 0x03AB, 1, 32}, {0x03C2, 0x03C2, 1, 1},  // Final sigma.
    {0x0400, 0x040F, 1, 80},   {0x0410, 0x042F, 1, 32}, {0x0460, 0x0480, 2, 1},
    {0x048A, 0x04BE, 2, 1},    {0x04D0, 0x052E, 2, 1},
}};

constexpr std::uint32_t lower(std::uint32_t point) {
  for (const LetterRange& range : ranges) {
    if (point >= range.first && point <= range.last && (point - range.first) % range.step == 0) {
      return point + static_cast<std::uint32_t>(range.distance);
    }
  }
  return point;
}

constexpr char lower_ascii(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

constexpr bool starts_pair(char byte) { return (static_cast<unsigned char>(byte) & 0xE0) == 0xC0; }

constexpr std::uint32_t pair_at(std::string_view text, std::size_t at) {
  const auto bits = [&](std::size_t index, unsigned mask) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[index]) & mask);
  };
  return bits(at, 0x1F) << 6 | bits(at + 1, 0x3F);
}

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t at = 0; at < a.size(); ++at) {
    if (starts_pair(a[at]) && starts_pair(b[at]) && at + 1 < a.size()) {
      if (lower(pair_at(a, at)) != lower(pair_at(b, at))) {
        return false;
      }
      ++at;
    } else if (lower_ascii(a[at]) != lower_ascii(b[at])) {
      return false;
    }
  }
  return true;
}

}  // namespace postrider
