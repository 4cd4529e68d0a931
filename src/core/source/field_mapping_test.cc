#include "core/source/field_mapping.h"

#include <gtest/gtest.h>

#include "core/json/json_text.h"

namespace postrider {
namespace {

FieldMapping mapping() {
  return {.fields = {{"type", {"type"}},
                     {"data", {"data", "payload"}},
                     {"tenant_id", {"tenant_id"}},
                     {"resource_id", {"resource_id", "aggregateid"}},
                     {"ordering_key", {"ordering_key", "aggregateid"}},
                     {"idempotency_key", {"id"}},
                     {"metadata", {"metadata"}},
                     {"priority", {"priority"}},
                     {"timestamp", {"timestamp", "created_at"}}},
          .default_type = {},
          .tenant_id = {},
          .key_prefix = {}};
}

SourceRecord message(std::vector<SourceField> fields) {
  return {.receipt = "1", .fields = std::move(fields)};
}

std::string json_of(std::vector<SourceField> fields, const FieldMapping& how = mapping()) {
  const Result<std::string> json = event_json(message(std::move(fields)), how);
  return json ? *json : json.error().message;
}

TEST(FieldMapping, WritesTheMembersOfAnEvent) {
  EXPECT_EQ(json_of({{"metadata", R"({"a":1})", true},
                     {"type", "order.paid"},
                     {"data", R"({"total": 1.50})", true},
                     {"tenant_id", "acme"},
                     {"resource_id", "o-1"},
                     {"id", "7"},
                     {"priority", "high"},
                     {"timestamp", "2026-01-31T12:00:00Z"},
                     {"ordering_key", "c-2"},
                     {"other", "ignored"}}),
            R"({"type":"order.paid","data":{"total": 1.50},"tenant_id":"acme","resource_id":"o-1",)"
            R"("idempotency_key":"7","priority":"high","timestamp":"2026-01-31T12:00:00Z",)"
            R"("ordering_key":"c-2","metadata":{"a":1}})");
}

TEST(FieldMapping, OneFieldCanSetTwoMembers) {
  EXPECT_EQ(json_of({{"id", "7"}, {"aggregateid", "o-1"}, {"type", "a"}, {"payload", "1", true}}),
            R"({"type":"a","data":1,"resource_id":"o-1","idempotency_key":"7",)"
            R"("ordering_key":"o-1"})");
}

TEST(FieldMapping, TheFirstListedFieldWins) {
  EXPECT_EQ(json_of({{"payload", "1"}, {"data", "2"}, {"type", "a"}}), R"({"type":"a","data":2})");
}

TEST(FieldMapping, DefaultsReplaceMissingAndEmptyFields) {
  FieldMapping how = mapping();
  how.default_type = "order.changed";
  how.tenant_id = "acme";
  how.key_prefix = "shop-";
  const std::string expected =
      R"({"type":"order.changed","data":{},"tenant_id":"acme","idempotency_key":"shop-7"})";
  EXPECT_EQ(json_of({{"data", "{}"}, {"id", "7"}}, how), expected);
  EXPECT_EQ(json_of({{"data", "{}"}, {"id", "7"}, {"type", ""}, {"tenant_id", ""}}, how), expected);
  EXPECT_EQ(json_of({{"data", "{}"}, {"id", "7", true}, {"type", "null", true}}, how), expected);
}

TEST(FieldMapping, NumbersBecomeTextWhereTextIsRequired) {
  EXPECT_EQ(json_of({{"data", "1", true}, {"id", "-42", true}, {"type", R"("a\u002eb")", true}}),
            R"({"type":"a.b","data":1,"idempotency_key":"-42"})");
}

TEST(FieldMapping, DataCanBeAnyJsonValue) {
  for (const char* value : {"null", "\"\"", "[]", "0", "\"text\"", "{}"}) {
    EXPECT_EQ(json_of({{"data", value, true}}), std::string{"{\"data\":"} + value + "}");
  }
}

TEST(FieldMapping, AMessageWithoutDataIsRefused) {
  const std::string refusal =
      "The message has no data. It is expected in the field `data` or `payload`.";
  EXPECT_EQ(json_of({}), refusal);
  EXPECT_EQ(json_of({{"data", ""}, {"type", "a"}}), refusal);
  EXPECT_EQ(json_of({{"data", "", true}}), refusal);
}

TEST(FieldMapping, DataAndMetadataMustBeJson) {
  for (const char* value : {"{", "text", "1,\"type\":\"x\"", "}{", "{\"a\":1,\"a\":2}", "\xff"}) {
    for (const bool is_json : {false, true}) {
      EXPECT_TRUE(json_of({{"data", value, is_json}})
                      .starts_with("The field `data` is not JSON. Invalid JSON at byte "))
          << value;
      EXPECT_TRUE(json_of({{"data", "1"}, {"metadata", value, is_json}})
                      .starts_with("The field `metadata` is not JSON. Invalid JSON at byte "))
          << value;
    }
  }
}

TEST(FieldMapping, TextMustBeUtf8) {
  for (const std::string value : {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80"}) {
    EXPECT_EQ(json_of({{"data", "1"}, {"resource_id", value}}),
              "The field `resource_id` is not valid UTF-8.");
  }
  EXPECT_EQ(json_of({{"data", "1"}, {"id", "\xff"}}), "The field `id` is not valid UTF-8.");
}

TEST(FieldMapping, OtherJsonIsNotText) {
  for (const char* value : {"true", "{}", "[1]"}) {
    EXPECT_EQ(json_of({{"data", "1"}, {"type", value, true}}),
              "The field `type` must be a text or a number.");
  }
  EXPECT_EQ(json_of({{"data", "1"}, {"type", "\"a", true}}), "The field `type` is not JSON.");
}

TEST(FieldMapping, TheProblemOfAMessageIsItsRefusal) {
  SourceRecord record = message({{"data", "1"}});
  record.problem = "The body is not a JSON object.";
  EXPECT_EQ(event_json(record, mapping()).error().message, "The body is not a JSON object.");
}

TEST(FieldMapping, HostileTextStaysInsideItsString) {
  using namespace std::string_literals;
  for (const std::string& value : {"\",\"type\":\"x"s, "\0"s, "a\0b"s, "\n\r\t\x1f\x7f"s, "\\"s,
                                   std::string(1'000'000, '"')}) {
    const std::string json = json_of({{"data", "1"}, {"resource_id", value}});
    const auto members = read_json_object(json);
    ASSERT_TRUE(members.has_value()) << members.error().message;
    ASSERT_EQ(members->size(), 2u);
    EXPECT_EQ(decode_json_string((*members)[1].value), value);
  }
}

TEST(FieldMapping, ATraceIsTakenFromItsFields) {
  constexpr const char* traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  FieldMapping how = mapping();
  how.fields["traceparent"] = {"traceparent", "headers.traceparent"};
  how.fields["tracestate"] = {"tracestate"};
  const auto trace = [&](std::vector<SourceField> fields) {
    return trace_of(message(std::move(fields)), how);
  };
  const std::optional<TraceContext> found =
      trace({{"headers.traceparent", traceparent}, {"tracestate", R"("a=1")", true}});
  ASSERT_TRUE(found);
  EXPECT_EQ(to_string(found->trace_id), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(found->state, "a=1");
  EXPECT_FALSE(trace({{"data", "1", true}}));
  EXPECT_FALSE(trace({{"traceparent", "garbage"}}));
  EXPECT_FALSE(trace({{"traceparent", "{not json", true}}));
  EXPECT_FALSE(trace({{"traceparent", R"({"a":1})", true}}));
  EXPECT_FALSE(trace_of(message({{"traceparent", traceparent}}), mapping())) << "not mapped";
  EXPECT_EQ(json_of({{"data", "1", true}, {"traceparent", traceparent}}, how), R"({"data":1})")
      << "it is not a member of the event";
}

}  // namespace
}  // namespace postrider
