#include "core/base/decimal.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace postrider {
namespace {

// No text has enough digits to compensate for an exponent of this size.
constexpr std::int64_t exponent_max = 1'000'000'000'000;

constexpr int key_digits = 18;  // As many as fit into 64 bits.

// 0.d1d2d3… × 10^scale, where d1 is not zero. Reads the digits from the number's text and skips the
// decimal point.
class Decimal {
 public:
  explicit Decimal(std::string_view text) {
    if (text.starts_with('-')) {
      negative_ = true;
      text.remove_prefix(1);
    }
    const auto* const exponent =
        std::ranges::find_if(text, [](char letter) { return letter == 'e' || letter == 'E'; });
    const auto mantissa_end = static_cast<std::size_t>(exponent - text.begin());
    mantissa_ = text.substr(0, mantissa_end);
    const std::size_t point = std::min(mantissa_.find('.'), mantissa_.size());
    const std::size_t first = std::min(mantissa_.find_first_not_of("0."), mantissa_.size());
    const auto places = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
    scale_ = places + (first > point ? 1 : 0) + read_exponent(text.substr(mantissa_end));
    mantissa_.remove_prefix(first);
  }

  [[nodiscard]] bool is_zero() const { return mantissa_.empty(); }
  /// Without trailing zeros.
  [[nodiscard]] std::string digits() const {
    std::string digits{mantissa_.substr(0, mantissa_.find_last_not_of("0.") + 1)};
    std::erase(digits, '.');
    return digits;
  }
  /// The number is ± digits() × 10^exponent_of(digits()).
  [[nodiscard]] std::int64_t exponent_of(const std::string& digits) const {
    return scale_ - static_cast<std::int64_t>(digits.size());
  }
  [[nodiscard]] int sign() const { return is_zero() ? 0 : negative_ ? -1 : 1; }

  [[nodiscard]] JsonNumberKey key() const {
    JsonNumberKey key{.sign = sign()};
    if (is_zero()) {
      return key;
    }
    key.scale = scale_;
    Decimal rest = *this;
    for (int digits = 0; digits < key_digits; ++digits) {
      key.leading = key.leading * 10 + static_cast<std::uint64_t>(rest.take_digit() - '0');
    }
    key.is_complete = rest.has_only_zeros();
    return key;
  }

  /// Ignores the signs. Neither number may be zero.
  [[nodiscard]] std::strong_ordering compare_magnitude(Decimal other) const {
    if (scale_ != other.scale_) {
      return scale_ <=> other.scale_;
    }
    Decimal mine = *this;
    while (!mine.mantissa_.empty() && !other.mantissa_.empty()) {
      const char left = mine.take_digit();
      const char right = other.take_digit();
      if (left != right) {
        return left <=> right;
      }
    }
    return other.has_only_zeros() <=> mine.has_only_zeros();
  }

 private:
  [[nodiscard]] static std::int64_t read_exponent(std::string_view text) {
    if (text.empty()) {
      return 0;
    }
    text.remove_prefix(text.size() > 1 && text[1] == '+' ? 2 : 1);
    std::int64_t exponent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error == std::errc::result_out_of_range) {
      return text.starts_with('-') ? -exponent_max : exponent_max;
    }
    return std::clamp(exponent, -exponent_max, exponent_max);
  }

  [[nodiscard]] bool has_only_zeros() const {
    return std::ranges::all_of(mantissa_,
                               [](char letter) { return letter == '0' || letter == '.'; });
  }

  // Returns '0' after the last digit.
  char take_digit() {
    if (mantissa_.starts_with('.')) {
      mantissa_.remove_prefix(1);
    }
    if (mantissa_.empty()) {
      return '0';
    }
    const char digit = mantissa_.front();
    mantissa_.remove_prefix(1);
    return digit;
  }

  std::string_view mantissa_;  // Starts at the first nonzero digit.
  std::int64_t scale_ = 0;
  bool negative_ = false;
};

/// value × 10 + digit, modulo `divisor`. Does not overflow, because divisor < 10^18.
std::uint64_t append_digit(std::uint64_t value, std::uint64_t digit, std::uint64_t divisor) {
  return (value * 10 + digit) % divisor;
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t divisor) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b % divisor);
}

/// 10^exponent modulo `divisor`, by repeated squaring.
std::uint64_t power_of_ten(std::uint64_t exponent, std::uint64_t divisor) {
  std::uint64_t result = 1 % divisor;
  for (std::uint64_t base = 10 % divisor; exponent > 0; exponent /= 2) {
    result = exponent % 2 == 1 ? multiply(result, base, divisor) : result;
    base = multiply(base, base, divisor);
  }
  return result;
}

}  // namespace

std::strong_ordering compare_json_numbers(std::string_view a, std::string_view b) {
  const Decimal left{a};
  const Decimal right{b};
  if (left.sign() != right.sign() || left.is_zero()) {
    return left.sign() <=> right.sign();
  }
  return left.sign() > 0 ? left.compare_magnitude(right) : right.compare_magnitude(left);
}

JsonNumberKey key_of_json_number(std::string_view number) { return Decimal{number}.key(); }

std::strong_ordering compare_json_numbers(const KeyedJsonNumber& a, const KeyedJsonNumber& b) {
  if (a.key.sign != b.key.sign || a.key.sign == 0) {
    return a.key.sign <=> b.key.sign;
  }
  const JsonNumberKey& left = a.key.sign > 0 ? a.key : b.key;
  const JsonNumberKey& right = a.key.sign > 0 ? b.key : a.key;
  if (left.scale != right.scale) {
    return left.scale <=> right.scale;
  }
  if (left.leading != right.leading) {
    return left.leading <=> right.leading;
  }
  return a.key.is_complete && b.key.is_complete ? std::strong_ordering::equal
                                                : compare_json_numbers(a.number, b.number);
}

bool is_whole_json_number(std::string_view number) {
  const Decimal decimal{number};
  return decimal.is_zero() || decimal.exponent_of(decimal.digits()) >= 0;
}

void append_canonical_json_number(std::string& out, std::string_view number) {
  const Decimal decimal{number};
  if (decimal.is_zero()) {
    out += '0';
    return;
  }
  const std::string digits = decimal.digits();
  out += decimal.sign() < 0 ? "-" : "";
  out += digits;
  out += 'e';
  out += std::to_string(decimal.exponent_of(digits));
}

std::optional<JsonDivisor> JsonDivisor::read(std::string_view number) {
  const Decimal decimal{number};
  const std::string digits = decimal.digits();
  if (decimal.sign() <= 0 || digits.size() > digits_max) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return JsonDivisor{value, decimal.exponent_of(digits)};
}

bool JsonDivisor::divides(std::string_view number) const {
  const Decimal decimal{number};
  if (decimal.is_zero()) {
    return true;
  }
  const std::string digits = decimal.digits();
  const std::int64_t exponent = decimal.exponent_of(digits) - exponent_;
  if (exponent < 0) {
    return false;  // Its last digit is not zero, so that no power of ten divides it.
  }
  std::uint64_t rest = 0;
  for (const char digit : digits) {
    rest = append_digit(rest, static_cast<std::uint64_t>(digit - '0'), digits_);
  }
  return multiply(rest, power_of_ten(static_cast<std::uint64_t>(exponent), digits_), digits_) == 0;
}

}  // namespace postrider
