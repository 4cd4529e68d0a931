#include "core/request/payload_format.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/json/json_text.h"

namespace postrider {
namespace {

constexpr PayloadFormat all_formats[] = {PayloadFormat::standard, PayloadFormat::exchange,
                                         PayloadFormat::platform, PayloadFormat::workspace,
                                         PayloadFormat::tenant,   PayloadFormat::raw};

// Key order, number format and white space that re-serialising would change.
constexpr std::string_view odd_data = "{ \"b\" : 1.0e+2,\t\"a\":\"\\u00e4\\/\" }";

const AttemptStamp stamp{
    .delivery_id = {}, .attempt_number = 2, .now = wall_from_unix_ms(1'750'000'000'456)};

Event sample_event() {
  Event event;
  event.id.bytes.fill(0xff);
  event.type = "swap.created";
  event.data = odd_data;
  event.idempotency_key = "key-1";
  event.timestamp = wall_from_unix_ms(1'700'000'000'123);
  event.created_at = wall_from_unix_ms(1'800'000'000'000);
  return event;
}

std::string body_of(PayloadFormat format, const Event& event) {
  return render_body({.format = format}, event, stamp);
}

TEST(PayloadFormat, NamesRoundTrip) {
  for (const PayloadFormat format : all_formats) {
    EXPECT_EQ(parse_payload_format(to_string(format)), format);
  }
  EXPECT_FALSE(parse_payload_format(""));
  EXPECT_FALSE(parse_payload_format("Standard"));
}

TEST(RenderBody, WritesEachEnvelopeAroundTheVerbatimData) {
  const Event event = sample_event();
  const std::string data{odd_data};
  const std::string id = "evt_7zzzzzzzzzzzzzzzzzzzzzzzzz";

  EXPECT_EQ(body_of(PayloadFormat::standard, event),
            R"({"id":")" + id +
                R"(","type":"swap.created","timestamp":"2023-11-14T22:13:20.123Z","data":)" + data +
                "}");
  EXPECT_EQ(body_of(PayloadFormat::exchange, event),
            R"({"id":")" + id + R"(","type":"swap.created","created_at":1700000000,"data":)" +
                data + "}");
  EXPECT_EQ(body_of(PayloadFormat::workspace, event),
            R"({"event_type":"swap.created","data":)" + data + "}");
  EXPECT_EQ(body_of(PayloadFormat::tenant, event),
            R"({"id":"dlv_00000000000000000000000000","event":"swap.created","data":)" + data +
                R"(,"timestamp":"2025-06-15T15:06:40.456Z"})")
      << "the time of the attempt";
  EXPECT_EQ(body_of(PayloadFormat::raw, event), data);
}

TEST(PayloadForm, NamesRoundTrip) {
  for (const PayloadForm form :
       {PayloadForm::verbatim, PayloadForm::compact, PayloadForm::sorted}) {
    EXPECT_EQ(parse_payload_form(to_string(form)), form);
  }
  EXPECT_FALSE(parse_payload_form(""));
}

TEST(RenderBody, SerialisesTheWholeBodyInTheForm) {
  const Event event = sample_event();
  const auto body_in = [&](PayloadFormat format, PayloadForm form) {
    return render_body({.format = format, .form = form}, event, stamp);
  };
  EXPECT_EQ(body_in(PayloadFormat::workspace, PayloadForm::compact),
            "{\"event_type\":\"swap.created\",\"data\":{\"b\":100,\"a\":\"\xc3\xa4/\"}}");
  EXPECT_EQ(body_in(PayloadFormat::workspace, PayloadForm::sorted),
            R"({"data": {"a": "\u00e4/", "b": 100.0}, "event_type": "swap.created"})");
  EXPECT_EQ(body_in(PayloadFormat::raw, PayloadForm::sorted), R"({"a": "\u00e4/", "b": 100.0})");
  EXPECT_EQ(body_in(PayloadFormat::raw, PayloadForm::verbatim), odd_data);
}

TEST(RenderBody, PlatformContainsTheWholeEvent) {
  Event event = sample_event();
  event.data = "1";
  EXPECT_EQ(body_of(PayloadFormat::platform, event),
            R"({"id":"evt_7zzzzzzzzzzzzzzzzzzzzzzzzz","event_type":"swap.created","data":1,)"
            R"("timestamp":"2023-11-14T22:13:20.123Z","idempotency_key":"key-1","source":null,)"
            R"("priority":"normal"})");
  event.source = "api \"quoted\"";
  event.priority = Priority::high;
  event.tenant_id = "tnt_1";
  event.resource_id = "order/7";
  EXPECT_EQ(body_of(PayloadFormat::platform, event),
            R"({"id":"evt_7zzzzzzzzzzzzzzzzzzzzzzzzz","event_type":"swap.created","data":1,)"
            R"("timestamp":"2023-11-14T22:13:20.123Z","idempotency_key":"key-1",)"
            R"("source":"api \"quoted\"","priority":"high",)"
            R"("tenant_id":"tnt_1","resource_id":"order/7"})");
  event.sequence = 12345;
  event.tenant_id.clear();
  EXPECT_TRUE(
      body_of(PayloadFormat::platform, event)
          .ends_with(R"("priority":"high","sequence_number":12345,"resource_id":"order/7"})"));
}

TEST(PayloadFormat, PlatformContainsOrderingKeyAndMetadataIfSet) {
  Event event;
  event.type = "a.b";
  event.data = "1";
  const std::string plain = body_of(PayloadFormat::platform, event);
  EXPECT_EQ(plain.find("ordering_key"), std::string::npos);
  EXPECT_EQ(plain.find("metadata"), std::string::npos);
  event.ordering_key = "order-7";
  event.metadata = R"({"b": 1, "a": [2]})";
  const std::string whole = body_of(PayloadFormat::platform, event);
  EXPECT_TRUE(whole.ends_with(R"(,"ordering_key":"order-7","metadata":{"b": 1, "a": [2]}})"))
      << whole;
}

TEST(RenderBody, TimesBeforeTheEpochRoundDown) {
  Event event = sample_event();
  event.data = "{}";
  event.timestamp = wall_from_unix_ms(-1);
  EXPECT_EQ(
      body_of(PayloadFormat::exchange, event),
      R"({"id":"evt_7zzzzzzzzzzzzzzzzzzzzzzzzz","type":"swap.created","created_at":-1,"data":{}})");
}

RC_GTEST_PROP(RenderBody, IsValidJsonForAnyEventAndFormat, (std::string name, std::string source)) {
  Event event = sample_event();
  for (std::string* text : {&name, &source}) {
    for (char& character : *text) {
      character = static_cast<char>(character & 0x7f);
    }
  }
  event.type = name;
  event.idempotency_key = source;
  event.source = source;
  event.tenant_id = name;
  for (const PayloadFormat format : all_formats) {
    for (const PayloadForm form :
         {PayloadForm::verbatim, PayloadForm::compact, PayloadForm::sorted}) {
      const std::string body = render_body({.format = format, .form = form}, event, stamp);
      RC_ASSERT(check_json(body).has_value());
    }
  }
}

}  // namespace
}  // namespace postrider
