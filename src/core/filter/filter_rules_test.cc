#include "core/filter/filter_rules.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider::filter {
namespace {

bool passes(Test test, std::string_view json) {
  const Rule rule{.tests = {std::move(test)}};
  const Rule but{.tests = rule.tests, .anything_but = true};
  const Scalar value = Scalar::from_json(json);
  EXPECT_NE(matches(rule, value), matches(but, value)) << json;
  return matches(rule, value);
}

OneOf one_of(const std::vector<std::string_view>& jsons) {
  OneOf values;
  for (const std::string_view json : jsons) {
    values.add(Scalar::from_json(json));
  }
  values.sort();
  return values;
}

TEST(FilterScalar, HasAKindAndIsDecoded) {
  const struct {
    std::string_view json;
    Scalar::Kind kind;
    std::string_view text;
  } cases[] = {
      {R"("")", Scalar::Kind::string, ""},       {R"("a")", Scalar::Kind::string, "a"},
      {R"("-1")", Scalar::Kind::string, "-1"},   {R"("\u0041\n\"")", Scalar::Kind::string, "A\n\""},
      {"0", Scalar::Kind::number, "0"},          {"-1.5E+3", Scalar::Kind::number, "-1.5E+3"},
      {"9", Scalar::Kind::number, "9"},          {"true", Scalar::Kind::literal, "true"},
      {"false", Scalar::Kind::literal, "false"}, {"null", Scalar::Kind::literal, "null"},
  };
  for (const auto& c : cases) {
    const Scalar scalar = Scalar::from_json(c.json);
    EXPECT_EQ(scalar.kind(), c.kind) << c.json;
    EXPECT_EQ(scalar.text(), c.text) << c.json;
  }
  EXPECT_EQ(Scalar::from_text(R"(a\n)").text(), R"(a\n)") << "from_text does not decode";
  EXPECT_EQ(Scalar::from_text("1").kind(), Scalar::Kind::string);
}

TEST(FilterScalar, KeepsItsDecodedTextIfCopied) {
  std::vector<Scalar> copies;
  {
    const Scalar scalar = Scalar::from_json(R"("\u0041 text that is longer than a small string")");
    copies.assign(3, scalar);
  }
  EXPECT_EQ(copies[2].text(), "A text that is longer than a small string");
}

TEST(FilterRule, DistinguishesStringsNumbersAndLiterals) {
  const OneOf values = one_of({R"("1")", "2", "true", R"("null")"});
  for (const std::string_view json : {R"("1")", "2", "2.0", "20e-1", "true", R"("null")"}) {
    EXPECT_TRUE(passes(values, json)) << json;
  }
  for (const std::string_view json : {"1", R"("2")", R"("true")", "null", "false", R"("")"}) {
    EXPECT_FALSE(passes(values, json)) << json;
  }
  EXPECT_FALSE(passes(OneOf{}, "1"));
}

TEST(FilterRule, AnyValueMatchesEverything) {
  for (const std::string_view json : {R"("")", "0", "null", "false"}) {
    EXPECT_TRUE(passes(AnyValue{}, json)) << json;
  }
}

TEST(FilterRule, RangeIncludesOnlyInclusiveBounds) {
  const NumberRange open{NumberBound{"0", false}, NumberBound{"1e1", false}};
  const NumberRange closed{NumberBound{"0", true}, NumberBound{"1e1", true}};
  const NumberRange above{NumberBound{"0", false}, {}};
  const NumberRange below{{}, NumberBound{"1e1", true}};
  const struct {
    std::string_view json;
    bool in_open;
    bool in_closed;
    bool is_above;
    bool is_below;
  } cases[] = {
      {"-1e400", false, false, false, true},
      {"-1e-400", false, false, false, true},
      {"-0.0", false, true, false, true},
      {"1e-400", true, true, true, true},
      {"9.99999999999999999999999", true, true, true, true},
      {"10.0", false, true, true, true},
      {"10.00000000000000000000001", false, false, true, false},
      {R"("5")", false, false, false, false},
      {"true", false, false, false, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(passes(open, c.json), c.in_open) << c.json;
    EXPECT_EQ(passes(closed, c.json), c.in_closed) << c.json;
    EXPECT_EQ(passes(above, c.json), c.is_above) << c.json;
    EXPECT_EQ(passes(below, c.json), c.is_below) << c.json;
  }
}

TEST(FilterRule, PrefixAndSuffixStayWithinTheText) {
  EXPECT_TRUE(passes(TextPrefix{"", false}, R"("")"));
  EXPECT_TRUE(passes(TextPrefix{"ab", false}, R"("ab")"));
  EXPECT_FALSE(passes(TextPrefix{"ab", false}, R"("a")"));
  EXPECT_FALSE(passes(TextPrefix{"ab", false}, R"("cab")"));
  EXPECT_FALSE(passes(TextPrefix{"1", false}, "12")) << "a number has no prefix";
  EXPECT_TRUE(passes(TextSuffix{"", false}, R"("")"));
  EXPECT_TRUE(passes(TextSuffix{"ab", false}, R"("cab")"));
  EXPECT_FALSE(passes(TextSuffix{"ab", false}, R"("b")"));
  EXPECT_FALSE(passes(TextSuffix{"ab", false}, R"("abc")"));
}

TEST(FilterRule, IgnoresCaseOnlyIfAsked) {
  EXPECT_FALSE(passes(TextPrefix{"Ä", false}, R"("äb")"));
  EXPECT_TRUE(passes(TextPrefix{"Ä", true}, R"("äb")"));
  EXPECT_FALSE(passes(TextSuffix{"ÄB", false}, R"("xäb")"));
  EXPECT_TRUE(passes(TextSuffix{"ÄB", true}, R"("xäb")"));
  EXPECT_TRUE(passes(TextIgnoringCase{"true"}, R"("TRUE")"));
  EXPECT_FALSE(passes(TextIgnoringCase{"true"}, "true"));
  EXPECT_FALSE(passes(TextIgnoringCase{"ab"}, R"("abc")"));
}

TEST(FilterRule, DoesNotSplitCharacters) {
  // ä has the same first byte as ã and the same last byte as ¤.
  EXPECT_FALSE(passes(TextPrefix{"a", true}, R"("ä")"));
  EXPECT_FALSE(passes(TextSuffix{"¤", true}, R"("ä")"));
  EXPECT_FALSE(passes(TextPrefix{"Äx", true}, R"("ää")"));
}

TEST(FilterRule, AddressesAndWildcardsMatchOnlyStrings) {
  const Cidr range = *Cidr::parse("10.0.0.0/31");
  EXPECT_TRUE(passes(range, R"("10.0.0.1")"));
  EXPECT_FALSE(passes(range, R"("10.0.0.2")"));
  EXPECT_FALSE(passes(range, R"("10.0.0.1 ")"));
  EXPECT_FALSE(passes(range, "10.0"));
  const Wildcard wildcard = *Wildcard::parse("*1*");
  EXPECT_TRUE(passes(wildcard, R"("210")"));
  EXPECT_FALSE(passes(wildcard, "210"));
}

TEST(FilterRule, MatchesIfAnyTestPassesAndAnythingButIfNoneDoes) {
  Rule rule{.tests = {TextPrefix{"a"}, TextSuffix{"z"}}};
  EXPECT_TRUE(matches(rule, Scalar::from_text("a-")));
  EXPECT_TRUE(matches(rule, Scalar::from_text("-z")));
  EXPECT_FALSE(matches(rule, Scalar::from_text("-")));
  rule.anything_but = true;
  EXPECT_FALSE(matches(rule, Scalar::from_text("a-")));
  EXPECT_FALSE(matches(rule, Scalar::from_text("-z")));
  EXPECT_TRUE(matches(rule, Scalar::from_text("-")));
  EXPECT_FALSE(matches(Rule{}, Scalar::from_text("")));
}

RC_GTEST_PROP(FilterRule, FindsANumberInAnyNotation,
              (std::vector<std::int32_t> numbers, std::int32_t wanted)) {
  OneOf values;
  bool has_it = false;
  for (const std::int32_t number : numbers) {
    values.add(Scalar::from_json(std::to_string(number)));
    has_it = has_it || number == wanted;
  }
  values.sort();
  const std::string spelled = std::to_string(wanted) + ".0e0";
  RC_ASSERT(passes(values, spelled) == has_it);
  values.add(Scalar::from_json(std::to_string(wanted) + "000e-3"));
  values.sort();
  RC_ASSERT(passes(values, spelled));
}

}  // namespace
}  // namespace postrider::filter
