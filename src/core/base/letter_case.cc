#include "core/base/letter_case.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace postrider {
namespace {

// Adding `distance` to every `step`th code point from `first` to `last` gives the lower case.
struct LetterRange {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t step;
  std::int32_t distance;
};

// Sorted. Omits letters whose counterpart has a different length (İ, ſ, Ⱥ) and letters without one.
// 0x03C2 is the final sigma. It is lower case itself and is folded to the normal sigma.
constexpr std::array<LetterRange, 83> ranges = {{
    {0x00C0, 0x00D6, 1, 32},   {0x00D8, 0x00DE, 1, 32},   {0x0100, 0x012E, 2, 1},
    {0x0132, 0x0136, 2, 1},    {0x0139, 0x0147, 2, 1},    {0x014A, 0x0176, 2, 1},
    {0x0178, 0x0178, 1, -121}, {0x0179, 0x017D, 2, 1},    {0x0181, 0x0181, 1, 210},
    {0x0182, 0x0184, 2, 1},    {0x0186, 0x0186, 1, 206},  {0x0187, 0x0187, 1, 1},
    {0x0189, 0x018A, 1, 205},  {0x018B, 0x018B, 1, 1},    {0x018E, 0x018E, 1, 79},
    {0x018F, 0x018F, 1, 202},  {0x0190, 0x0190, 1, 203},  {0x0191, 0x0191, 1, 1},
    {0x0193, 0x0193, 1, 205},  {0x0194, 0x0194, 1, 207},  {0x0196, 0x0196, 1, 211},
    {0x0197, 0x0197, 1, 209},  {0x0198, 0x0198, 1, 1},    {0x019C, 0x019C, 1, 211},
    {0x019D, 0x019D, 1, 213},  {0x019F, 0x019F, 1, 214},  {0x01A0, 0x01A4, 2, 1},
    {0x01A6, 0x01A6, 1, 218},  {0x01A7, 0x01A7, 1, 1},    {0x01A9, 0x01A9, 1, 218},
    {0x01AC, 0x01AC, 1, 1},    {0x01AE, 0x01AE, 1, 218},  {0x01AF, 0x01AF, 1, 1},
    {0x01B1, 0x01B2, 1, 217},  {0x01B3, 0x01B5, 2, 1},    {0x01B7, 0x01B7, 1, 219},
    {0x01B8, 0x01B8, 1, 1},    {0x01BC, 0x01BC, 1, 1},    {0x01C4, 0x01C4, 1, 2},
    {0x01C5, 0x01C5, 1, 1},    {0x01C7, 0x01C7, 1, 2},    {0x01C8, 0x01C8, 1, 1},
    {0x01CA, 0x01CA, 1, 2},    {0x01CB, 0x01DB, 2, 1},    {0x01DE, 0x01EE, 2, 1},
    {0x01F1, 0x01F1, 1, 2},    {0x01F2, 0x01F4, 2, 1},    {0x01F6, 0x01F6, 1, -97},
    {0x01F7, 0x01F7, 1, -56},  {0x01F8, 0x021E, 2, 1},    {0x0220, 0x0220, 1, -130},
    {0x0222, 0x0232, 2, 1},    {0x023B, 0x023B, 1, 1},    {0x023D, 0x023D, 1, -163},
    {0x0241, 0x0241, 1, 1},    {0x0243, 0x0243, 1, -195}, {0x0244, 0x0244, 1, 69},
    {0x0245, 0x0245, 1, 71},   {0x0246, 0x024E, 2, 1},    {0x0370, 0x0372, 2, 1},
    {0x0376, 0x0376, 1, 1},    {0x037F, 0x037F, 1, 116},  {0x0386, 0x0386, 1, 38},
    {0x0388, 0x038A, 1, 37},   {0x038C, 0x038C, 1, 64},   {0x038E, 0x038F, 1, 63},
    {0x0391, 0x03A1, 1, 32},   {0x03A3, 0x03AB, 1, 32},   {0x03C2, 0x03C2, 1, 1},
    {0x03CF, 0x03CF, 1, 8},    {0x03D8, 0x03EE, 2, 1},    {0x03F4, 0x03F4, 1, -60},
    {0x03F7, 0x03F7, 1, 1},    {0x03F9, 0x03F9, 1, -7},   {0x03FA, 0x03FA, 1, 1},
    {0x03FD, 0x03FF, 1, -130}, {0x0400, 0x040F, 1, 80},   {0x0410, 0x042F, 1, 32},
    {0x0460, 0x0480, 2, 1},    {0x048A, 0x04BE, 2, 1},    {0x04C0, 0x04C0, 1, 15},
    {0x04C1, 0x04CD, 2, 1},    {0x04D0, 0x052E, 2, 1},
}};

constexpr std::uint32_t lower(std::uint32_t point) {
  const LetterRange* const range = std::ranges::lower_bound(ranges, point, {}, &LetterRange::last);
  const bool is_upper =
      range != ranges.end() && point >= range->first && (point - range->first) % range->step == 0;
  return is_upper ? point + static_cast<std::uint32_t>(range->distance) : point;
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

std::string fold_case(std::string_view text) {
  std::string folded{text};
  for (std::size_t at = 0; at < folded.size(); ++at) {
    if (starts_pair(folded[at]) && at + 1 < folded.size()) {
      const std::uint32_t point = lower(pair_at(folded, at));
      folded[at] = static_cast<char>(0xC0 | point >> 6);
      folded[++at] = static_cast<char>(0x80 | (point & 0x3F));
    } else {
      folded[at] = lower_ascii(folded[at]);
    }
  }
  return folded;
}

}  // namespace postrider
