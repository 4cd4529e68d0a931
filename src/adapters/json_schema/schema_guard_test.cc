#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/random.h"

#include "adapters/json_schema/schema_check.h"

namespace postrider {
namespace {

std::string fault_of(std::string_view schema) {
  const auto check = make_schema_check(schema);
  return check ? "none" : check.error().message;
}

TEST(SchemaGuard, RejectsUnsupportedSchemasAndReportsWhere) {
  struct Case {
    std::string_view schema;
    std::string_view want;
  };
  constexpr std::string_view external =
      " must refer to a part of the schema itself, such as #/definitions/address. External "
      "references are not supported.";
  const std::string remote = "/properties/a/$ref" + std::string{external};
  const Case cases[] = {
      {"5", "/ must be a schema: an object, true or false."},
      {R"({"properties":{"a":5}})", "/properties/a must be a schema: an object, true or false."},
      {R"({"properties":{"a":{"$ref":"https://example.com/a.json"}}})", remote},
      {R"({"properties":{"a":{"$ref":"file:///etc/passwd"}}})", remote},
      {R"({"properties":{"a":{"$ref":"other.json#/a"}}})", remote},
      {R"({"properties":{"a":{"$ref":"#name"}}})", remote},
      {R"({"properties":{"a":{"$ref":5}}})", remote},
      {R"({"properties":{"a":{"$ref":"#/definitions/b"}}})",
       "/properties/a/$ref refers to #/definitions/b, which is not a schema."},
      {R"({"enum":[{"pattern":"(a"}],"properties":{"a":{"$ref":"#/enum/0"}}})",
       "/properties/a/$ref refers to #/enum/0, which is not a schema."},
      {R"({"$ref":"#"})", "/ leads back to itself without descending into the data."},
      {R"({"allOf":[{"$ref":"#"}]})", "/ leads back to itself without descending into the data."},
      {R"({"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"not":{"$ref":"#/definitions/a"}}}})",
       "/definitions/a leads back to itself without descending into the data."},
      {R"({"pattern":"(a"})",
       "/pattern is not a supported regular expression (Mismatched '(' and ')' in regular "
       "expression). Back references and named classes such as \\p{L} are not supported."},
      {R"({"pattern":5})", "/pattern must be a string."},
      {R"({"pattern":"((a{100}){100}){100}"})",
       "/pattern must not have repetitions whose numbers multiply to more than 10000."},
      {R"({"patternProperties":{"^(a+)+$":{}}})",
       "/patternProperties/^(a+)+$ must be simple: at most 2 of `*`, `+` and `{n}`, none of them "
       "on a group."},
      {R"({"patternProperties":{".*.*.*":{}}})",
       "/patternProperties/.*.*.* must be simple: at most 2 of `*`, `+` and `{n}`, none of them on "
       "a group."},
      {R"({"prefixItems":[{}]})", "/prefixItems is not supported. Use JSON Schema draft 7."},
      {"{", "Invalid JSON at byte 1: the text ends too early."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(fault_of(c.schema), c.want) << c.schema;
  }
}

TEST(SchemaGuard, SchemasRejectedByValijsonAreRejected) {
  EXPECT_NE(fault_of(R"({"type":"strin"})"), "none");
  EXPECT_NE(fault_of(R"({"properties":{"a":[{}]}})"), "none");
  EXPECT_NE(fault_of(R"({"minimum":"x"})"), "none");
  EXPECT_NE(fault_of(R"({"required":5})"), "none");
  EXPECT_NE(fault_of(R"({"enum":5})"), "none");
}

TEST(SchemaGuard, RejectsBackReferencesAndNamedClasses) {
  EXPECT_NE(fault_of(R"({"pattern":"(a)\\1"})"), "none");
  EXPECT_NE(fault_of(R"({"pattern":"\\p{L}"})"), "none");
}

TEST(SchemaGuard, NamesInPropertiesAreNotKeywords) {
  EXPECT_EQ(fault_of(R"({"properties":{"id":{"type":"string"},"pattern":{"type":"integer"},)"
                     R"("$ref":{"type":"string"},"prefixItems":{}}})"),
            "none");
}

TEST(SchemaGuard, EnforcesItsLimitsExactly) {
  const auto padded = [](std::size_t bytes) {
    const std::string frame = R"({"description":""})";
    return R"({"description":")" + std::string(bytes - frame.size(), 'x') + R"("})";
  };
  EXPECT_EQ(fault_of(padded(schema_bytes_max)), "none");
  EXPECT_EQ(fault_of(padded(schema_bytes_max + 1)), "must have at most 65536 bytes.");

  const auto chained = [](int links) {
    std::string definitions = R"("d0":{})";
    for (int link = 1; link < links; ++link) {
      definitions +=
          fmt::format(R"(,"d{}":{{"allOf":[{{"$ref":"#/definitions/d{}"}}]}})", link, link - 1);
    }
    return fmt::format(R"({{"definitions":{{{}}}}})", definitions);
  };
  EXPECT_EQ(fault_of(chained(8)), "none");
  EXPECT_NE(fault_of(chained(9)).find("applies more than 16 nested schemas"), std::string::npos);
}

TEST(SchemaGuard, HandlesMutatedSchemas) {
  constexpr std::string_view samples[] = {
      R"({"allOf":[{"$ref":"#/definitions/a"}],"definitions":{"a":{"pattern":"^a{1,3}$"}}})",
      R"({"type":"object","properties":{"a":{"items":[{"type":"integer"},true]}},)"
      R"("required":["a"]})",
      R"({"if":{"const":1},"then":{"minimum":0},"else":{"enum":[1,"x"]},)"
      R"("dependencies":{"a":["b"]}})",
  };
  SplitMix64 random{7};
  int usable = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::string text{samples[random.below(std::size(samples))]};
    for (std::uint64_t change = random.below(3); change < 3; ++change) {
      text[random.below(text.size())] = R"({}[]"#/$:,a1)"[random.below(12)];
    }
    if (const auto check = make_schema_check(text)) {
      (void)(*check)->check(R"({"a":[1,{"b":"aa"}],"b":null})");
      ++usable;
    }
  }
  EXPECT_GT(usable, 10);
}

}  // namespace
}  // namespace postrider
