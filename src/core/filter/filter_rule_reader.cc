#include "core/filter/filter_rule_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/decimal.h"
#include "core/json/json_text.h"

namespace postrider::filter {
namespace {

constexpr std::array<std::string_view, 8> rule_names = {
    "prefix", "suffix",  "equals-ignore-case", "wildcard",
    "exists", "numeric", "anything-but",       "cidr"};

// The rules that `anything-but` can negate.
constexpr std::array<std::string_view, 4> text_rule_names = {"prefix", "suffix",
                                                             "equals-ignore-case", "wildcard"};

bool is_number(std::string_view raw) {
  return Scalar::from_json(raw).kind() == Scalar::Kind::number;
}

Read<void> add_bound(NumberRange& range, std::string_view comparison, std::string_view number) {
  const bool inclusive = comparison.ends_with('=');
  const bool is_low = comparison.starts_with('>');
  const bool is_high = comparison.starts_with('<');
  if ((comparison != "=" && !is_low && !is_high) || comparison.size() > (inclusive ? 2u : 1u)) {
    return refuse({}, "must use the comparisons =, <, <=, > or >=.");
  }
  if ((!is_high && range.low) || (!is_low && range.high)) {
    return refuse({}, "must be one comparison, or one with > or >= and one with < or <=.");
  }
  const NumberBound bound{std::string{number}, inclusive};
  if (!is_high) {
    range.low = bound;
  }
  if (!is_low) {
    range.high = bound;
  }
  return {};
}

Read<Test> read_numeric(std::string_view raw, const std::string& path) {
  constexpr std::string_view shape =
      R"(must be comparisons and numbers, such as [">", 0, "<=", 5].)";
  const Result<std::vector<std::string_view>> items = read_json_array(raw);
  if (!items || items->empty() || items->size() > 4 || items->size() % 2 != 0) {
    return refuse(path, std::string{shape});
  }
  NumberRange range;
  for (std::size_t index = 0; index < items->size(); index += 2) {
    const std::optional<std::string> comparison = decode_json_string((*items)[index]);
    const std::string_view number = (*items)[index + 1];
    if (!comparison || !is_number(number)) {
      return refuse(path, std::string{shape});
    }
    if (Read<void> added = add_bound(range, *comparison, number); !added) {
      return refuse(path, added.error().message);
    }
  }
  if (range.low && range.high && items->size() == 4 &&
      compare_json_numbers(range.low->number, range.high->number) >= 0) {
    return refuse(path, "must have its lower bound below its upper bound.");
  }
  return range;
}

Read<Test> read_cidr(std::string_view raw, const std::string& path) {
  const std::optional<std::string> text = decode_json_string(raw);
  const std::optional<Cidr> range = text ? Cidr::parse(*text) : std::nullopt;
  if (!range) {
    return refuse(path, "must be a range of addresses, such as \"10.0.0.0/24\".");
  }
  return *range;
}

}  // namespace

Read<ReadRule> RuleReader::read(std::string_view raw, const std::string& path) {
  const Result<std::vector<JsonMember>> members = read_json_object(raw);
  if (!members || members->size() != 1) {
    return refuse(path, R"(must be an object with one rule, such as {"prefix": "a"}.)");
  }
  if (rules_left_ == 0) {
    return refuse(path, fmt::format("is one rule too many. A filter may have at most {} rules and "
                                    "any number of plain values.",
                                    filter_rules_max));
  }
  --rules_left_;
  const JsonMember& member = members->front();
  return read_named(member.key, member.value, path + "." + member.key);
}

Read<ReadRule> RuleReader::read_named(std::string_view name, std::string_view raw,
                                      const std::string& path) {
  if (name == "exists") {
    if (raw != "true" && raw != "false") {
      return refuse(path, "must be true or false.");
    }
    return raw == "true" ? ReadRule{.rule = {.tests = {AnyValue{}}}}
                         : ReadRule{.matches_absence = true};
  }
  if (name == "anything-but") {
    return read_anything_but(raw, path).map(
        [](Rule rule) { return ReadRule{.rule = std::move(rule)}; });
  }
  if (std::ranges::find(rule_names, name) == rule_names.end()) {
    return refuse(path,
                  fmt::format("is not a rule. The rules are {}.", fmt::join(rule_names, ", ")));
  }
  Read<Test> test = name == "numeric" ? read_numeric(raw, path)
                    : name == "cidr"  ? read_cidr(raw, path)
                                      : read_text_test(name, raw, path);
  return std::move(test).map(
      [](Test read) { return ReadRule{.rule = {.tests = {std::move(read)}}}; });
}

Read<Test> RuleReader::read_text_test(std::string_view name, std::string_view raw,
                                      const std::string& path) {
  const bool is_affix = name == "prefix" || name == "suffix";
  std::optional<std::string> text = decode_json_string(raw);
  bool ignore_case = name == "equals-ignore-case";
  if (is_affix && raw.starts_with('{')) {
    const Result<std::vector<JsonMember>> members = read_json_object(raw);
    if (members && members->size() == 1 && members->front().key == "equals-ignore-case") {
      text = decode_json_string(members->front().value);
      ignore_case = true;
    }
  }
  if (!text) {
    return refuse(path, is_affix ? R"(must be a string or {"equals-ignore-case": "a string"}.)"
                                 : "must be a string.");
  }
  if (name == "wildcard") {
    return read_wildcard(*text, path);
  }
  if (name == "prefix") {
    return TextPrefix{*std::move(text), ignore_case};
  }
  if (name == "suffix") {
    return TextSuffix{*std::move(text), ignore_case};
  }
  return TextIgnoringCase{*std::move(text)};
}

Read<Test> RuleReader::read_wildcard(const std::string& text, const std::string& path) {
  if (text.size() > wildcard_bytes_left_) {
    return refuse(path, fmt::format("is too long. All wildcards of a filter together may have at "
                                    "most {} bytes.",
                                    filter_wildcard_bytes_max));
  }
  wildcard_bytes_left_ -= text.size();
  Result<Wildcard> wildcard = Wildcard::parse(text);
  if (!wildcard) {
    return refuse(path, wildcard.error().message);
  }
  return *std::move(wildcard);
}

Read<Rule> RuleReader::read_anything_but(std::string_view raw, const std::string& path) {
  Rule rule{.tests = {}, .anything_but = true};
  std::string inner_path = path;
  std::string_view name;  // Empty for plain values.
  std::vector<JsonMember> members;
  if (raw.starts_with('{')) {
    members = read_json_object(raw).value_or(std::vector<JsonMember>{});
    const bool known =
        members.size() == 1 &&
        std::ranges::find(text_rule_names, members.front().key) != text_rule_names.end();
    if (!known) {
      return refuse(path,
                    fmt::format("must be a value, an array of values, or an object with one of "
                                "{}.",
                                fmt::join(text_rule_names, ", ")));
    }
    name = members.front().key;
    raw = members.front().value;
    inner_path += "." + members.front().key;
  }
  std::vector<std::string_view> items = {raw};
  if (raw.starts_with('[')) {
    items = read_json_array(raw).value_or(std::vector<std::string_view>{});
  }
  if (items.empty()) {
    return refuse(inner_path, "must not be empty.");
  }
  OneOf values;
  for (const std::string_view item : items) {
    if (!name.empty()) {
      POSTRIDER_TRY(Test test, read_text_test(name, item, inner_path));
      rule.tests.push_back(std::move(test));
    } else if (item.starts_with('{') || item.starts_with('[')) {
      return refuse(inner_path, "must contain only strings, numbers, true, false and null.");
    } else {
      values.add(Scalar::from_json(item));
    }
  }
  if (name.empty()) {
    values.sort();
    rule.tests.emplace_back(std::move(values));
  } else if (items.size() - 1 > rules_left_) {
    return refuse(inner_path, fmt::format("is too long. A filter may have at most {} rules.",
                                          filter_rules_max));
  } else {
    rules_left_ -= items.size() - 1;
  }
  return rule;
}

}  // namespace postrider::filter
