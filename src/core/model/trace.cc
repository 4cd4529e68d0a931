#include "core/model/trace.h"

#include <span>
#include <string_view>

namespace postrider {
namespace {

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace

std::string to_string(const TraceId& id) { return hex(id.bytes); }

std::string to_string(const SpanId& id) { return hex(id.bytes); }

}  // namespace postrider
