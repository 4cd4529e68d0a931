#include "main/json_log.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'123);

std::string json(std::string_view text) {
  std::string line;
  append_json_line({.at = noon, .level = "info", .text = text}, line);
  return line;
}

std::string with(std::string_view fields) {
  return R"({"time":"2026-01-01T12:00:00.123Z","level":"info","message":"a.b")" +
         std::string{fields} + "}";
}

TEST(JsonLog, HasTheFieldsOfTheTextLine) {
  EXPECT_EQ(json("a.b"), with(""));
  EXPECT_EQ(json("a.b webhook=whk_1 kind=x"), with(R"(,"webhook":"whk_1","kind":"x")"));
}

TEST(JsonLog, EscapesQuotedTextForJson) {
  EXPECT_EQ(json(R"(a.b error="a \"b\" \\ c=d" dead="e")"),
            with(R"(,"error":"a \"b\" \\ c=d","dead":"e")"));
  EXPECT_EQ(json(R"(a.b error="")"), with(R"(,"error":"")"));
}

TEST(JsonLog, AFieldHasTheSameTypeForEveryValue) {
  EXPECT_EQ(json("a.b attempt=1 duration_ms=0.5 http_status=200"),
            with(R"(,"attempt":1,"duration_ms":0.5,"http_status":200)"));
  EXPECT_EQ(json("a.b status=200 request_bytes=17 in_flight_max=4"),
            with(R"(,"status":200,"request_bytes":17,"in_flight_max":4)"));
  EXPECT_EQ(json("a.b cut_off=true damaged=false"), with(R"(,"cut_off":true,"damaged":false)"));
  EXPECT_EQ(json("a.b cut_off=maybe kind=true"), with(R"(,"cut_off":"maybe","kind":"true")"));
  EXPECT_EQ(json("a.b type=200 id=1e5"), with(R"(,"type":"200","id":"1e5")"));
  EXPECT_EQ(json("a.b attempt=none attempt=1e5 attempt=nan"),
            with(R"(,"attempt":"none","attempt":"1e5","attempt":"nan")"));
}

TEST(JsonLog, TextThatIsNotAFieldIsInRest) {
  EXPECT_EQ(json("a.b what now"), with(R"(,"rest":"what now")"));
  EXPECT_EQ(json("a.b x=1 What is = this"), with(R"(,"x":"1","rest":"What is = this")"));
}

TEST(JsonLog, MalformedLinesBecomeValidJson) {
  EXPECT_EQ(json(R"(a.b error="no end)"), with(R"(,"error":"no end")"));
  EXPECT_EQ(json(R"(a.b error="no end\)"), with(R"(,"error":"no end\\")"));
  EXPECT_EQ(json("a.b x="), with(R"(,"x":"")"));
  EXPECT_EQ(json("a.b "), with(R"(,"rest":"")"));
  EXPECT_EQ(json("a.b x=\xff\n"), with(R"(,"x":"??")"));
  EXPECT_EQ(json(""), R"({"time":"2026-01-01T12:00:00.123Z","level":"info","message":""})");
}

}  // namespace
}  // namespace postrider
