#include "config/value.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/parse_number.h"
#include "core/base/trim.h"

namespace postrider::config {
namespace {

Texts split(std::string_view text) {
  Texts parts;
  while (!trim(text).empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(trim(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

std::optional<Value> parse_integers(std::string_view text) {
  Integers integers;
  for (const std::string& part : split(text)) {
    const std::optional<std::int64_t> integer = parse_number<std::int64_t>(part);
    if (!integer) {
      return std::nullopt;
    }
    integers.push_back(*integer);
  }
  return integers;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') {
      out += '\\';
      out += character;
    } else if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(character));
    } else {
      out += character;
    }
  }
  return out + '"';
}

std::string written(bool value) { return value ? "true" : "false"; }
std::string written(std::int64_t value) { return fmt::format("{}", value); }
std::string written(const std::string& value) { return quoted(value); }

// Adds a decimal point to whole numbers, which TOML would otherwise read as integers.
std::string written(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

template <class Item>
std::string written(const std::vector<Item>& items) {
  std::string out = "[";
  for (const Item& item : items) {
    out += out.size() > 1 ? ", " : "";
    out += written(item);
  }
  return out + "]";
}

}  // namespace

std::optional<Value> parse_value(Kind kind, std::string_view text) {
  const auto as_value = [](const auto& parsed) {
    return parsed ? std::optional<Value>{*parsed} : std::nullopt;
  };
  switch (kind) {
    case Kind::boolean:
      if (text == "true" || text == "1") {
        return Value{true};
      }
      return text == "false" || text == "0" ? std::optional<Value>{false} : std::nullopt;
    case Kind::integer:
      return as_value(parse_number<std::int64_t>(text));
    case Kind::number:
      return as_value(parse_number<double>(text));
    case Kind::text:
      return Value{std::string{text}};
    case Kind::texts:
      return Value{split(text)};
    case Kind::integers:
      return parse_integers(text);
  }
  return std::nullopt;
}

std::string to_toml(const Value& value) {
  return std::visit([](const auto& each) { return written(each); }, value);
}

}  // namespace postrider::config
