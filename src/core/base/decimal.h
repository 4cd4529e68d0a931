// JSON numbers by value, as exact decimals: `300`, `300.0` and `3e2` are equal, 0.1 is exactly 0.1,
// and 9007199254740993 is not 9007199254740992. The number of digits is not limited. Exponents are
// clamped to ±10^12. Every argument must be a valid JSON number.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postrider {

[[nodiscard]] std::strong_ordering compare_json_numbers(std::string_view a, std::string_view b);

/// The sign, the size and the first digits of a number. Most numbers differ in them, so that a
/// number that is compared with many others is read only once.
struct JsonNumberKey {
  int sign = 0;
  std::int64_t scale = 0;     // The number is ±0.d1d2d3… × 10^scale.
  std::uint64_t leading = 0;  // d1 to d18.
  bool is_complete = true;    // All further digits are 0.
};
[[nodiscard]] JsonNumberKey key_of_json_number(std::string_view number);

struct KeyedJsonNumber {
  std::string_view number;
  JsonNumberKey key;
};
/// The same result as for the numbers alone.
[[nodiscard]] std::strong_ordering compare_json_numbers(const KeyedJsonNumber& a,
                                                        const KeyedJsonNumber& b);

/// True for `3`, `3.0` and `3e2`.
[[nodiscard]] bool is_whole_json_number(std::string_view number);

/// Appends a text that equal numbers have in common, and different numbers do not.
void append_canonical_json_number(std::string& out, std::string_view number);

/// A number that others are divided by, without rounding: 0.3 is a multiple of 0.1.
class JsonDivisor {
 public:
  static constexpr std::size_t digits_max = 18;  // Without leading and trailing zeros.

  /// Returns nullopt if the number is not positive or has more digits.
  [[nodiscard]] static std::optional<JsonDivisor> read(std::string_view number);

  /// The time is proportional to the length of `number`.
  [[nodiscard]] bool divides(std::string_view number) const;

 private:
  JsonDivisor(std::uint64_t digits, std::int64_t exponent) : digits_(digits), exponent_(exponent) {}

  std::uint64_t digits_;  // Not a multiple of 10.
  std::int64_t exponent_;
};

}  // namespace postrider
