// Compares the filter with a naive matcher on random patterns and events. The naive matcher looks
// up every field from the top and does not use facts and levels.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/random.h"
#include "core/filter/filter.h"
#include "core/json/json_text.h"

namespace postrider {
namespace {

using Values = std::vector<std::string_view>;  // JSON texts.

Values elements(std::string_view array) { return *read_json_array(array); }
std::vector<JsonMember> members(std::string_view object) { return *read_json_object(object); }

/// Collects the scalars or the objects in `value`, including those inside arrays.
void flatten(std::string_view value, bool objects, Values& out) {
  if (value.starts_with('[')) {
    for (const std::string_view element : elements(value)) {
      flatten(element, objects, out);
    }
  } else if (value.starts_with('{') == objects) {
    out.push_back(value);
  }
}

bool rule_matches(std::string_view rule, std::string_view scalar) {
  if (!rule.starts_with('{')) {
    return rule == scalar;  // The generator writes each value in one form only.
  }
  const JsonMember member = members(rule).front();
  const std::string text = decode_json_string(scalar).value_or("");
  const bool is_text = scalar.starts_with('"');
  if (member.key == "exists") {
    return member.value == "true";
  }
  if (member.key == "prefix") {
    return is_text && text.starts_with(*decode_json_string(member.value));
  }
  if (member.key == "suffix") {
    return is_text && text.ends_with(*decode_json_string(member.value));
  }
  if (member.key == "anything-but") {
    return std::ranges::none_of(elements(member.value),
                                [&](std::string_view value) { return value == scalar; });
  }
  const Values range = elements(member.value);  // numeric, with ">=" alone
  return !is_text && scalar.find_first_not_of("0123456789") == std::string_view::npos &&
         std::stoi(std::string{scalar}) >= std::stoi(std::string{range[1]});
}

bool leaf_matches(std::string_view rules, const Values& scalars) {
  for (const std::string_view rule : elements(rules)) {
    if (scalars.empty() ? rule == R"({"exists":false})"
                        : std::ranges::any_of(scalars, [&](std::string_view scalar) {
                            return rule_matches(rule, scalar);
                          })) {
      return true;
    }
  }
  return false;
}

bool naive_match(std::string_view pattern, std::string_view object);

bool field_matches(const JsonMember& wanted, std::string_view object) {
  Values scalars;
  Values objects;
  for (const JsonMember& member : members(object)) {
    if (member.key == wanted.key) {
      flatten(member.value, false, scalars);
      flatten(member.value, true, objects);
    }
  }
  if (wanted.value.starts_with('[')) {
    return leaf_matches(wanted.value, scalars);
  }
  if (objects.empty()) {
    return naive_match(wanted.value, "{}");
  }
  return std::ranges::any_of(
      objects, [&](std::string_view inner) { return naive_match(wanted.value, inner); });
}

bool naive_match(std::string_view pattern, std::string_view object) {
  return std::ranges::all_of(members(pattern), [&](const JsonMember& wanted) {
    if (wanted.key != "$or") {
      return field_matches(wanted, object);
    }
    return std::ranges::any_of(elements(wanted.value), [&](std::string_view alternative) {
      return naive_match(alternative, object);
    });
  });
}

/// Uses few names and values, so that patterns often match.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string event_object(int depth) {
    return object([&] { return event_value(depth - 1); }, 4);
  }

  std::string pattern_object(int depth) {
    std::string text = object([&] { return pattern_value(depth - 1); }, 2);
    if (depth > 0 && random_.below(3) == 0) {
      text.pop_back();
      text += R"(,"$or":[)" + pattern_object(depth - 1) + "," + pattern_object(depth - 1) + "]}";
    }
    return text;
  }

 private:
  template <class Make>
  std::string object(Make make, std::uint64_t fields_max) {
    std::string text;
    std::string_view names = "abcd";
    for (std::uint64_t count = 1 + random_.below(fields_max); count > 0; --count) {
      const std::uint64_t skipped = random_.below(names.size() - count + 1);
      names.remove_prefix(skipped);
      text += (text.empty() ? "" : ",") + std::string{"\""} + names.front() + "\":" + make();
      names.remove_prefix(1);
    }
    return "{" + text + "}";
  }

  std::string scalar() {
    constexpr std::string_view scalars[] = {R"("x")", R"("xy")", R"("y")", "1",
                                            "2",      "3",       "true",   "null"};
    return std::string{scalars[random_.below(std::size(scalars))]};
  }

  std::string event_value(int depth) {
    const std::uint64_t kind = random_.below(depth > 0 ? 6 : 3);
    if (kind < 3) {
      return scalar();
    }
    if (kind < 5) {
      return event_object(depth);
    }
    std::string text;
    for (std::uint64_t count = random_.below(4); count > 0; --count) {
      text += (text.empty() ? "" : ",") + event_value(depth - 1);
    }
    return "[" + text + "]";
  }

  std::string pattern_value(int depth) {
    if (depth > 0 && random_.below(2) == 0) {
      return pattern_object(depth);
    }
    std::string text;
    for (std::uint64_t count = 1 + random_.below(2); count > 0; --count) {
      text += (text.empty() ? "" : ",") + rule();
    }
    return "[" + text + "]";
  }

  std::string rule() {
    switch (random_.below(8)) {
      case 0:
        return R"({"exists":false})";
      case 1:
        return R"({"exists":true})";
      case 2:
        return R"({"prefix":"x"})";
      case 3:
        return R"({"suffix":"y"})";
      case 4:
        return R"({"anything-but":[)" + scalar() + "," + scalar() + "]}";
      case 5:
        return R"({"numeric":[">=",2]})";
      default:
        return scalar();
    }
  }

  SplitMix64 random_;
};

TEST(FilterProperty, AgreesWithTheNaiveMatcher) {
  int matched = 0;
  constexpr int rounds = 5'000;
  for (int round = 0; round < rounds; ++round) {
    Generator generator{static_cast<std::uint64_t>(round)};
    const std::string pattern = generator.pattern_object(3);
    Event event;
    event.data = generator.event_object(4);
    const auto filter = Filter::parse(R"({"data":)" + pattern + "}");
    if (!filter) {
      ASSERT_NE(filter.error().message.find("too many"), std::string::npos) << pattern;
      continue;
    }
    const bool want = naive_match(pattern, event.data);
    ASSERT_EQ(filter->matches(event), want)
        << "seed " << round << ": " << pattern << " on " << event.data;
    matched += want ? 1 : 0;
  }
  EXPECT_GT(matched, rounds / 20) << "enough events must match";
  EXPECT_LT(matched, rounds - rounds / 20);
}

RC_GTEST_PROP(FilterProperty, AgreesForAnySeed, (std::uint64_t seed)) {
  Generator generator{seed};
  const std::string pattern = generator.pattern_object(3);
  Event event;
  event.data = generator.event_object(5);
  const auto filter = Filter::parse(R"({"data":)" + pattern + "}");
  RC_PRE(filter.has_value());
  RC_ASSERT(filter->matches(event) == naive_match(pattern, event.data));
}

}  // namespace
}  // namespace postrider
