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

TEST(SchemaReader, RejectsUnsupportedSchemasAndReportsWhere) {
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
       "/pattern is not a regular expression that RE2 supports (missing ): (a)."},
      {R"({"pattern":5})", "/pattern must be a string."},
      {R"j({"items":{"pattern":"a(?=b)"}})j",
       "/items/pattern uses look-ahead ((?=), which RE2 cannot express. Patterns are matched by "
       "RE2, in time proportional to the text."},
      {R"({"patternProperties":{"(a)\\1":{}}})",
       "/patternProperties/(a)\\1 uses the back-reference \\1, which RE2 cannot express. Patterns "
       "are matched by RE2, in time proportional to the text."},
      {R"({"prefixItems":[{}]})", "/prefixItems is not supported. Use JSON Schema draft 7."},
      {"{", "Invalid JSON at byte 1: the text ends too early."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(fault_of(c.schema), c.want) << c.schema;
  }
}

TEST(SchemaReader, ChecksWhatTheMetaSchemaRequires) {
  struct Case {
    std::string_view schema;
    std::string_view want;
  };
  constexpr Case cases[] = {
      {R"({"multipleOf":0})", "/multipleOf must be greater than 0."},
      {R"({"multipleOf":0.0})", "/multipleOf must be greater than 0."},
      {R"({"multipleOf":-0.0})", "/multipleOf must be greater than 0."},
      {R"({"multipleOf":-1})", "/multipleOf must be greater than 0."},
      {R"({"multipleOf":0e400})", "/multipleOf must be greater than 0."},
      {R"({"multipleOf":"1"})", "/multipleOf must be a number."},
      {R"({"multipleOf":1.234567890123456789})",
       "/multipleOf must have at most 18 digits besides leading and trailing zeros."},
      {R"({"items":{"anyOf":[true,{"multipleOf":0}]}})",
       "/items/anyOf/1/multipleOf must be greater than 0."},
      {R"({"minimum":"x"})", "/minimum must be a number."},
      {R"({"exclusiveMaximum":true})", "/exclusiveMaximum must be a number."},
      {R"({"minLength":-1})", "/minLength must be a whole number that is not negative."},
      {R"({"maxLength":1.5})", "/maxLength must be a whole number that is not negative."},
      {R"({"maxItems":"1"})", "/maxItems must be a whole number that is not negative."},
      {R"({"minProperties":-1e400})",
       "/minProperties must be a whole number that is not negative."},
      {R"({"type":"strin"})",
       "/type must be one of null, boolean, object, array, number, string, integer, or an array of "
       "different ones of them; `strin` is not."},
      {R"({"type":5})",
       "/type must be one of null, boolean, object, array, number, string, integer, or an array of "
       "different ones of them."},
      {R"({"type":["null","null"]})", "/type contains `null` more than once."},
      {R"({"type":[]})", "/type must contain at least one type."},
      {R"({"required":5})", "/required must be an array of different strings."},
      {R"({"required":["a",1]})", "/required must be an array of different strings."},
      {R"({"required":["a","a"]})", "/required must be an array of different strings."},
      {R"({"enum":5})", "/enum must be an array."},
      {R"({"uniqueItems":1})", "/uniqueItems must be true or false."},
      {R"({"properties":[]})", "/properties must be an object."},
      {R"({"properties":{"a":[{}]}})", "/properties/a must be a schema: an object, true or false."},
      {R"({"patternProperties":5})", "/patternProperties must be an object."},
      {R"({"definitions":[]})", "/definitions must be an object."},
      {R"({"$defs":{"a":5}})", "/$defs/a must be a schema: an object, true or false."},
      {R"({"dependencies":{"a":["b","b"]}})",
       "/dependencies must be an array of different strings."},
      {R"({"dependencies":{"a":5}})",
       "/dependencies/a must be a schema: an object, true or false."},
      {R"({"allOf":[]})", "/allOf must be an array of at least one schema."},
      {R"({"anyOf":{}})", "/anyOf must be an array of at least one schema."},
      {R"({"items":[]})", "/items must be an array of at least one schema."},
      {R"({"items":"x"})", "/items must be a schema: an object, true or false."},
      {R"({"not":1})", "/not must be a schema: an object, true or false."},
      {R"({"format":1})", "/format must be a string."},
      {R"({"title":1})", "/title must be a string."},
      {R"({"$schema":1})", "/$schema must be a string."},
      {R"({"readOnly":"yes"})", "/readOnly must be true or false."},
      {R"({"examples":1})", "/examples must be an array."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(fault_of(c.schema), c.want) << c.schema;
  }
}

TEST(SchemaReader, AcceptsWhatTheMetaSchemaAllows) {
  for (const std::string_view schema :
       {R"({"required":[],"enum":[],"examples":[],"default":{"pattern":"("},"const":"("})",
        R"({"minLength":2.0,"maxLength":1e2,"multipleOf":1e-300,"minimum":1e400})",
        R"({"dependencies":{"a":[],"b":false},"then":{},"else":{},"additionalItems":false})",
        R"({"x-mine":5,"format":"hostname","exclusiveMinimum":-1e-400,"type":["integer"]})",
        R"({"$schema":"http://json-schema.org/draft-07/schema#","$id":"a","$comment":"b"})"}) {
    EXPECT_EQ(fault_of(schema), "none") << schema;
  }
}

TEST(SchemaReader, NamesInPropertiesAreNotKeywords) {
  EXPECT_EQ(fault_of(R"({"properties":{"id":{"type":"string"},"pattern":{"type":"integer"},)"
                     R"("$ref":{"type":"string"},"prefixItems":{}}})"),
            "none");
}

TEST(SchemaReader, EnforcesItsLimitsExactly) {
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
  EXPECT_EQ(fault_of(chained(16)), "none");
  EXPECT_EQ(fault_of(chained(17)),
            "/definitions/d15 is part of a chain of more than 32 nested schemas for one value.");
  EXPECT_NE(fault_of(chained(1'500)), "none");
}

TEST(SchemaReader, HandlesMutatedSchemas) {
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
      StepBudget budget;
      (void)(*check)->check(R"({"a":[1,{"b":"aa"}],"b":null})", budget);
      ++usable;
    }
  }
  EXPECT_GT(usable, 10);
}

}  // namespace
}  // namespace postrider
