// Random JSON schemas and documents that have much to do with each other. Both are JSON text; most
// are valid.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace postrider::test {

inline constexpr std::string_view schema_numbers[] = {"0",
                                                      "-0.0",
                                                      "1",
                                                      "1.0",
                                                      "-1",
                                                      "2.5",
                                                      "1e400",
                                                      "1e-300",
                                                      "0.1",
                                                      "1e2",
                                                      "7",
                                                      "100",
                                                      "-9223372036854775808",
                                                      "18446744073709551616"};
inline constexpr std::string_view schema_patterns[] = {"^a+$", "(x+x+)+y", "^\\\\s+|\\\\s+$",
                                                       "[ab]{3}", "b"};
inline constexpr std::string_view schema_names[] = {"a", "b", "c"};

/// `Random` has `below(n)`.
template <class Random>
class SchemaGenerator {
 public:
  explicit SchemaGenerator(Random random) : random_(std::move(random)) {}

  std::string value(int depth) {
    switch (random_.below(depth > 0 ? 6 : 4)) {
      case 0:
        return random_.below(2) == 0 ? "null" : "true";
      case 1:
        return std::string{pick(schema_numbers)};
      case 2:
      case 3:
        return random_.below(2) == 0 ? R"("aab")" : R"("xx y\u0000é")";
      case 4:
        return fmt::format("[{},{},{}]", value(depth - 1), value(depth - 1), value(depth - 1));
      default:
        return fmt::format(R"({{"{}":{},"z":{}}})", pick(schema_names), value(depth - 1),
                           value(depth - 1));
    }
  }

  std::string schema(int depth) {
    std::string text = "{";
    for (std::uint64_t count = random_.below(3) + 1; count > 0; --count) {
      text += fmt::format("{}\"k{}\":0,{}", text.size() > 1 ? "," : "", count, keyword(depth));
    }
    return text + "}";
  }

 private:
  template <class Choices>
  std::string_view pick(const Choices& choices) {
    return choices[random_.below(std::size(choices))];
  }

  std::string keyword(int depth) {
    const std::uint64_t kind = random_.below(depth > 0 ? 18 : 9);
    switch (kind) {
      case 0:
        return fmt::format(R"("type":"{}")", random_.below(2) == 0 ? "integer" : "object");
      case 1:
        return fmt::format(R"("multipleOf":{})", pick(schema_numbers));
      case 2:
        return fmt::format(R"("minimum":{})", pick(schema_numbers));
      case 3:
        return fmt::format(R"("pattern":"{}")", pick(schema_patterns));
      case 4:
        return fmt::format(R"("maxLength":{})", pick(schema_numbers));
      case 5:
        return fmt::format(R"("enum":[{},{}])", value(1), value(1));
      case 6:
        return R"("uniqueItems":true)";
      case 7:
        return fmt::format(R"("required":["{}"])", pick(schema_names));
      case 8:
        return R"("$ref":"#")";
      case 9:
        return fmt::format(R"("properties":{{"{}":{}}})", pick(schema_names), schema(depth - 1));
      case 10:
        return fmt::format(R"("patternProperties":{{"{}":{}}})", pick(schema_patterns),
                           schema(depth - 1));
      case 11:
        return fmt::format(R"("items":{})", schema(depth - 1));
      case 12:
        return fmt::format(R"("contains":{})", schema(depth - 1));
      case 13:
        return fmt::format(R"("not":{})", schema(depth - 1));
      case 14:
        return fmt::format(R"("propertyNames":{})", schema(depth - 1));
      default:
        return fmt::format(R"("{}":[{},{}])",
                           kind == 15   ? "allOf"
                           : kind == 16 ? "anyOf"
                                        : "oneOf",
                           schema(depth - 1), schema(depth - 1));
    }
  }

  Random random_;
};

}  // namespace postrider::test
