// One row of the settings table, and functions that build rows.
//
// A row defines the key, kind, range and help of a setting once. Reading files, variables and
// flags, printing, the reference page and reloading all use it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/net/address.h"

#include "config/config.h"
#include "config/value.h"

namespace postrider::config {

struct Setting {
  std::string key;  // Dotted, as in TOML.
  Kind kind = Kind::text;
  std::string help;
  std::string rule;  // Completes a sentence: `must be an integer from 0 to 256`.
  /// Returns false and changes nothing if the value breaks the rule. `value` has the kind `kind`,
  /// or is the `keyword`.
  std::function<bool(Config&, const Value&)> assign;
  std::function<Value(const Config&)> read;
  bool reloads = false;       // SIGHUP applies a change; otherwise a restart is needed.
  std::string preset_prefix;  // Of a preset: it resets every setting whose key begins so.
  std::string keyword;        // Accepted instead of a value of the kind; passed on as text.
  bool hides_value = false;   // It may contain a secret, and `read` returns a form without it.

  Setting&& on_reload() && {
    reloads = true;
    return std::move(*this);
  }
  Setting&& as_preset_of(std::string prefix) && {
    preset_prefix = std::move(prefix);
    return std::move(*this);
  }
};

struct Label {
  std::string key;
  std::string help;
};

struct Range {
  std::int64_t min = 0;
  std::int64_t max = 0;
};
struct Bounds {
  double min = 0;
  double max = 0;
};

// Each function below takes `field`, which maps a Config (const or not) to a reference to the
// value.

template <class Field>
Setting boolean(const Label& label, Field field) {
  return {.key = label.key,
          .kind = Kind::boolean,
          .help = label.help,
          .rule = "must be true or false",
          .assign =
              [field](Config& config, const Value& value) {
                field(config) = std::get<bool>(value);
                return true;
              },
          .read = [field](const Config& config) -> Value { return field(config); }};
}

template <class Number>
std::int64_t as_integer(Number number) {
  return static_cast<std::int64_t>(number);
}
inline std::int64_t as_integer(Millis millis) { return millis.count(); }

template <class Field>
Setting integer(const Label& label, Field field, Range range) {
  return {.key = label.key,
          .kind = Kind::integer,
          .help = label.help,
          .rule = fmt::format("must be an integer from {} to {}", range.min, range.max),
          .assign =
              [field, range](Config& config, const Value& value) {
                const std::int64_t integer = std::get<std::int64_t>(value);
                if (integer < range.min || integer > range.max) {
                  return false;
                }
                auto& target = field(config);
                target = static_cast<std::remove_reference_t<decltype(target)>>(integer);
                return true;
              },
          .read = [field](const Config& config) -> Value { return as_integer(field(config)); }};
}

template <class Field>
Setting number(const Label& label, Field field, Bounds bounds) {
  return {.key = label.key,
          .kind = Kind::number,
          .help = label.help,
          .rule = fmt::format("must be a number from {} to {}", bounds.min, bounds.max),
          .assign =
              [field, bounds](Config& config, const Value& value) {
                const double given = std::get<double>(value);
                if (!(given >= bounds.min && given <= bounds.max)) {
                  return false;
                }
                field(config) = given;
                return true;
              },
          .read = [field](const Config& config) -> Value { return field(config); }};
}

/// `rule` is the text for people; `fits` implements it.
struct TextRule {
  std::string rule = "must be a string of at most 1024 characters";
  std::function<bool(const std::string&)> fits = [](const std::string& text) {
    return text.size() <= 1024;
  };
};

template <class Field>
Setting text(const Label& label, Field field, TextRule rule = {}) {
  return {.key = label.key,
          .kind = Kind::text,
          .help = label.help,
          .rule = std::move(rule.rule),
          .assign =
              [field, fits = std::move(rule.fits)](Config& config, const Value& value) {
                const std::string& given = std::get<std::string>(value);
                if (!fits(given)) {
                  return false;
                }
                field(config) = given;
                return true;
              },
          .read = [field](const Config& config) -> Value { return field(config); }};
}

/// The names of an enumeration, comma-separated, and the function that parses them.
template <class Parse>
struct Words {
  std::string list;
  Parse parse;
};
template <class Parse>
Words(std::string, Parse) -> Words<Parse>;

template <class Field, class Parse>
Setting choice(const Label& label, Field field, Words<Parse> words) {
  return {.key = label.key,
          .kind = Kind::text,
          .help = label.help,
          .rule = "must be one of " + std::move(words.list),
          .assign =
              [field, parse = words.parse](Config& config, const Value& value) {
                const auto parsed = parse(std::string_view{std::get<std::string>(value)});
                if (parsed) {
                  field(config) = *parsed;
                }
                return parsed.has_value();
              },
          .read = [field](const Config& config) -> Value {
            return std::string{to_string(field(config))};
          }};
}

template <class Field>
Setting cidrs(const Label& label, Field field) {
  return {.key = label.key,
          .kind = Kind::texts,
          .help = label.help,
          .rule =
              "must be a list of addresses or ranges such as 10.0.0.0/8, with no bits set after "
              "the prefix",
          .assign =
              [field](Config& config, const Value& value) {
                std::vector<Cidr> ranges;
                for (const std::string& text : std::get<Texts>(value)) {
                  const std::optional<Cidr> range = Cidr::parse(text);
                  if (!range) {
                    return false;
                  }
                  ranges.push_back(*range);
                }
                field(config) = std::move(ranges);
                return true;
              },
          .read = [field](const Config& config) -> Value {
            Texts texts;
            for (const Cidr& range : field(config)) {
              texts.push_back(range.to_string());
            }
            return texts;
          }};
}

template <class Number>
Number from_integer(std::int64_t integer) {
  return Number(static_cast<Number>(integer));
}

/// A list of at most 100 integers within the range, such as delays or statuses.
template <class Field>
Setting integers(const Label& label, Field field, Range range) {
  return {.key = label.key,
          .kind = Kind::integers,
          .help = label.help,
          .rule = fmt::format("must be a list of at most 100 integers from {} to {}", range.min,
                              range.max),
          .assign =
              [field, range](Config& config, const Value& value) {
                auto& target = field(config);
                std::remove_reference_t<decltype(target)> items;
                const Integers& given = std::get<Integers>(value);
                for (const std::int64_t item : given) {
                  if (item < range.min || item > range.max) {
                    return false;
                  }
                  items.push_back(from_integer<typename decltype(items)::value_type>(item));
                }
                if (given.size() <= 100) {
                  target = std::move(items);
                }
                return given.size() <= 100;
              },
          .read = [field](const Config& config) -> Value {
            Integers integers;
            for (const auto& item : field(config)) {
              integers.push_back(as_integer(item));
            }
            return integers;
          }};
}

}  // namespace postrider::config
