// Writing JSON, and the problems of JSON bodies.
#include "api/json/json_body.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "api/json/json_writer.h"

namespace postrider::api {
namespace {

TEST(JsonWriter, SeparatesValuesWithCommas) {
  std::string out;
  JsonWriter writer{out};
  writer.open_object();
  writer.member("a", 1);
  writer.member("b", std::optional<std::string>{});
  writer.key("c");
  writer.open_array();
  writer.value(true);
  writer.value("x\"y");
  writer.open_object();
  writer.close_object();
  writer.value(0.5);
  writer.close_array();
  writer.member_raw("d", "[1, 2]");
  writer.member("e", 50.0);
  writer.member("f", wall_from_unix_ms(0));
  writer.close_object();
  EXPECT_EQ(out, R"({"a":1,"b":null,"c":[true,"x\"y",{},0.5],"d":[1, 2],"e":50,)"
                 R"("f":"1970-01-01T00:00:00.000Z"})");
}

TEST(CleanUtf8, ReplacesEveryInvalidByte) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain", "plain"},
      {"caf\xC3\xA9", "caf\xC3\xA9"},
      {"caf\xE9", "caf\uFFFD"},
      {"\xC0\xAF", "\uFFFD\uFFFD"},                      // Overlong.
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},            // A surrogate.
      {"\xE2\x82", "\uFFFD\uFFFD"},                      // Cut short.
      {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},          // U+1F600.
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // Above U+10FFFF.
      {std::string("a\0b", 3), std::string("a\0b", 3)},
  };
  for (const auto& [bytes, want] : cases) {
    EXPECT_EQ(clean_utf8(bytes), want);
  }
}

RC_GTEST_PROP(CleanUtf8, TurnsAnyBytesIntoAValidJsonString, (const std::string& bytes)) {
  std::string out;
  JsonWriter writer{out};
  writer.bytes(bytes);
  RC_ASSERT(check_json(out).has_value());
  RC_ASSERT(decode_json_string(out) == clean_utf8(bytes));
}

TEST(Clip, CutsBetweenCharacters) {
  EXPECT_EQ(clip("abc", 3), "abc");
  EXPECT_EQ(clip("abcd", 3), "abc…");
  EXPECT_EQ(clip("aéb", 2), "a…");
  EXPECT_EQ(clip("é", 0), "…");
}

HttpRequest with_body(std::string body, std::optional<std::string> type = std::nullopt) {
  HttpRequest request;
  request.body = std::move(body);
  if (type) {
    request.headers.emplace_back("content-type", *type);
  }
  return request;
}

TEST(ReadBody, DistinguishesInvalidJsonFromUnacceptableJson) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  struct Case {
    std::string body;
    int status;
    std::string code;
  };
  const Case cases[] = {
      {"", 400, "invalid_json"},
      {" \n", 400, "invalid_json"},
      {"{", 400, "invalid_json"},
      {R"({"a":1,})", 400, "invalid_json"},
      {R"({"a":01})", 400, "invalid_json"},
      {R"({"a":1} x)", 400, "invalid_json"},
      {"\xEF\xBB\xBF{}", 400, "invalid_json"},
      {"{\"a\":\"\x01\"}", 400, "invalid_json"},
      {"[]", 422, "unacceptable_json"},
      {R"("text")", 422, "unacceptable_json"},
      {R"({"a":1,"a":2})", 422, "unacceptable_json"},
      {R"({"a":1,"\u0061":2})", 422, "unacceptable_json"},
      {"{\"a\":\"\xFF\"}", 422, "unacceptable_json"},
      {R"({"a":"\ud800"})", 422, "unacceptable_json"},
      {R"({"a":"\udc00"})", 422, "unacceptable_json"},
      {R"({"a":"\\ud800"} x)", 400, "invalid_json"},
      {R"({"a":"\ud8zz"})", 400, "invalid_json"},
      {R"({"a":)" + std::string(32, '[') + std::string(32, ']') + "}", 422, "unacceptable_json"},
      {R"({"a":)" + deep.substr(0, 60'000) + deep.substr(100'000, 60'000) + "}", 422,
       "unacceptable_json"},
      {"{\"a\":\"" + std::string(small_body_bytes_max, 'x') + "\"}", 413, "body_too_large"},
  };
  for (const Case& c : cases) {
    const HttpRequest request = with_body(c.body);
    const auto members = read_body(request);
    ASSERT_FALSE(members) << c.body.substr(0, 40);
    EXPECT_EQ(members.error().status, c.status) << c.body.substr(0, 40);
    EXPECT_EQ(members.error().code, c.code) << c.body.substr(0, 40);
  }
}

TEST(ReadBody, AcceptsPlainJsonOnly) {
  for (const char* type : {"application/json", "application/json; charset=utf-8",
                           "Application/JSON;charset=\"UTF-8\"", "application/json;"}) {
    EXPECT_TRUE(read_body(with_body("{}", type))) << type;
  }
  EXPECT_TRUE(read_body(with_body("{}")));
  for (const char* type : {"text/plain", "application/json; charset=latin-1", "application/jsonx",
                           "", "application/x-www-form-urlencoded"}) {
    const auto members = read_body(with_body("{}", type));
    ASSERT_FALSE(members) << type;
    EXPECT_EQ(members.error().status, 415) << type;
  }
  HttpRequest zipped = with_body("{}");
  zipped.headers.emplace_back("content-encoding", "gzip");
  EXPECT_EQ(read_body(zipped).error().status, 415);
}

TEST(CheckNoParameters, AcceptsNoBodyOrAnEmptyObject) {
  EXPECT_TRUE(check_no_parameters(with_body("")));
  EXPECT_TRUE(check_no_parameters(with_body("{}")));
  EXPECT_EQ(check_no_parameters(with_body(R"({"x":1})")).error().errors.front().field, "x");
  EXPECT_EQ(check_no_parameters(with_body("{")).error().status, 400);
}

}  // namespace
}  // namespace postrider::api
