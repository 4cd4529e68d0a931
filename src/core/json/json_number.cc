#include "core/json/json_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>

#include "core/base/assert.h"

namespace postrider {
namespace {

/// The shortest decimal number that reads back as a double: 0.d₁d₂d₃… × 10^point.
struct ShortestDecimal {
  bool negative = false;
  std::string digits;
  int point = 1;
};

bool is_integer(std::string_view number) {
  return number.find_first_of(".eE") == std::string_view::npos;
}

/// True if a number outside the range of a double is too large, false if it is too small.
bool is_too_large(std::string_view number) {
  const std::size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
  const std::string_view mantissa = number.substr(0, exponent_at);
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) {
    return false;
  }
  const std::size_t dot = std::min(mantissa.find('.'), mantissa.size());
  // Of the first digit. A body is far too small for this to overflow.
  const auto place = static_cast<std::int64_t>(dot) - static_cast<std::int64_t>(first);
  std::string_view exponent = number.substr(std::min(exponent_at + 1, number.size()));
  const bool exponent_is_negative = exponent.starts_with('-');
  exponent.remove_prefix(exponent.starts_with('-') || exponent.starts_with('+') ? 1 : 0);
  std::int64_t value = 0;
  const auto read = std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
  if (read.ec == std::errc::result_out_of_range) {
    return !exponent_is_negative;
  }
  return place > (exponent_is_negative ? value : -value);
}

/// The nearest double. Returns nullopt if that is infinite.
std::optional<double> to_double(std::string_view number) {
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  if (read.ec != std::errc::result_out_of_range) {
    return value;
  }
  if (is_too_large(number)) {
    return std::nullopt;
  }
  return number.starts_with('-') ? -0.0 : 0.0;
}

ShortestDecimal shortest(double value) {
  std::array<char, 32> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                     std::chars_format::scientific);
  POSTRIDER_ASSERT(written.ec == std::errc{});
  std::string_view text{buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data())};
  ShortestDecimal decimal{.negative = text.starts_with('-')};
  text.remove_prefix(decimal.negative ? 1 : 0);
  const std::size_t exponent_at = text.find('e');
  decimal.digits = text.substr(0, exponent_at);
  std::erase(decimal.digits, '.');
  std::string_view exponent = text.substr(exponent_at + 1);
  exponent.remove_prefix(exponent.starts_with('+') ? 1 : 0);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.point);
  ++decimal.point;
  return decimal;
}

/// Without an exponent. Whole numbers get no fraction.
void append_plain(std::string& out, const ShortestDecimal& decimal) {
  const int count = static_cast<int>(decimal.digits.size());
  if (decimal.point <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-decimal.point), '0');
    out += decimal.digits;
    return;
  }
  const int whole = std::min(count, decimal.point);
  out.append(decimal.digits, 0, static_cast<std::size_t>(whole));
  out.append(static_cast<std::size_t>(decimal.point - whole), '0');
  if (whole < count) {
    out += '.';
    out.append(decimal.digits, static_cast<std::size_t>(whole));
  }
}

void append_scientific(std::string& out, const ShortestDecimal& decimal,
                       std::size_t exponent_digits_min) {
  out += decimal.digits.front();
  if (decimal.digits.size() > 1) {
    out += '.';
    out.append(decimal.digits, 1);
  }
  const int exponent = decimal.point - 1;
  out += exponent < 0 ? "e-" : "e+";
  const std::string digits = std::to_string(exponent < 0 ? -exponent : exponent);
  out.append(exponent_digits_min - std::min(exponent_digits_min, digits.size()), '0');
  out += digits;
}

}  // namespace

void append_javascript_number(std::string& out, std::string_view number) {
  const std::optional<double> value = to_double(number);
  if (!value) {
    out += "null";
    return;
  }
  if (*value == 0) {
    out += '0';  // Also for -0.
    return;
  }
  const ShortestDecimal decimal = shortest(*value);
  out += decimal.negative ? "-" : "";
  if (decimal.point > -6 && decimal.point <= 21) {  // Number::toString of ECMA-262.
    append_plain(out, decimal);
  } else {
    append_scientific(out, decimal, 1);
  }
}

void append_python_number(std::string& out, std::string_view number) {
  if (is_integer(number)) {
    out += number == "-0" ? "0" : number;
    return;
  }
  const std::optional<double> value = to_double(number);
  if (!value) {
    out += number;
    return;
  }
  const ShortestDecimal decimal = shortest(*value);
  out += decimal.negative ? "-" : "";
  if (decimal.point <= -4 || decimal.point > 16) {  // repr() of a float.
    append_scientific(out, decimal, 2);
    return;
  }
  append_plain(out, decimal);
  if (static_cast<int>(decimal.digits.size()) <= decimal.point) {
    out += ".0";
  }
}

}  // namespace postrider
