#include "adapters/amqp/message_fields.h"

#include <amqp_framing.h>
#include <gtest/gtest.h>

#include "adapters/amqp/amqp_errors.h"

namespace postrider::amqp {
namespace {

/// The message with these properties as the server would send them.
QueueMessage message(const amqp_basic_properties_t& properties, std::string body = "{}") {
  std::string encoded(4'096, '\0');
  amqp_basic_properties_t copy = properties;
  const int size = amqp_encode_properties(AMQP_BASIC_CLASS, &copy, bytes(encoded));
  EXPECT_GT(size, 0);
  encoded.resize(static_cast<std::size_t>(size));
  return {.tag = 7,
          .exchange = "shop",
          .routing_key = "order.paid",
          .properties = encoded,
          .body = std::move(body)};
}

const SourceField* find(const SourceRecord& record, std::string_view name) {
  const auto found = std::ranges::find(record.fields, name, &SourceField::name);
  return found == record.fields.end() ? nullptr : &*found;
}

std::string value(const SourceRecord& record, std::string_view name) {
  const SourceField* const field = find(record, name);
  return field == nullptr ? "(none)" : field->value;
}

amqp_table_entry_t header(const char* name, const char* text) {
  amqp_table_entry_t entry{};
  entry.key = amqp_cstring_bytes(name);
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = amqp_cstring_bytes(text);
  return entry;
}

TEST(MessageFields, AMessageWithoutPropertiesHasABodyAndItsRoute) {
  const SourceRecord record = to_record(message({}, R"({"a": 1})"), false);
  EXPECT_EQ(record.receipt, "7");
  EXPECT_FALSE(record.problem);
  EXPECT_EQ(record.fields, (std::vector<SourceField>{{"body", R"({"a": 1})", true},
                                                     {"priority", "normal"},
                                                     {"routing_key", "order.paid"},
                                                     {"exchange", "shop"}}));
}

TEST(MessageFields, EveryPropertyIsAField) {
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_APP_ID_FLAG |
                      AMQP_BASIC_CORRELATION_ID_FLAG | AMQP_BASIC_USER_ID_FLAG |
                      AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_TIMESTAMP_FLAG |
                      AMQP_BASIC_PRIORITY_FLAG | AMQP_BASIC_CONTENT_ENCODING_FLAG;
  properties.message_id = amqp_cstring_bytes("m-1");
  properties.type = amqp_cstring_bytes("order.paid");
  properties.app_id = amqp_cstring_bytes("shop");
  properties.correlation_id = amqp_cstring_bytes("c-1");
  properties.user_id = amqp_cstring_bytes("guest");
  properties.content_type = amqp_cstring_bytes("application/json");
  properties.content_encoding = amqp_cstring_bytes("UTF-8");
  properties.timestamp = 1'800'000'000;
  properties.priority = 9;
  const SourceRecord record = to_record(message(properties), false);
  EXPECT_FALSE(record.problem);
  EXPECT_EQ(value(record, "message_id"), "m-1");
  EXPECT_EQ(value(record, "type"), "order.paid");
  EXPECT_EQ(value(record, "app_id"), "shop");
  EXPECT_EQ(value(record, "correlation_id"), "c-1");
  EXPECT_EQ(value(record, "user_id"), "guest");
  EXPECT_EQ(value(record, "content_type"), "application/json");
  EXPECT_EQ(value(record, "timestamp"), "2027-01-15T08:00:00.000Z");
  EXPECT_EQ(value(record, "priority"), "high");
}

TEST(MessageFields, PrioritiesHaveThreeLevels) {
  const std::string_view words[] = {"low",    "low",  "low",  "low",  "normal", "normal",
                                    "normal", "high", "high", "high", "high"};
  for (std::uint8_t priority = 0; priority < std::size(words); ++priority) {
    EXPECT_EQ(priority_word(priority), words[priority]) << int{priority};
  }
  EXPECT_EQ(priority_word(255), "high");
}

TEST(MessageFields, HeadersAreFieldsAndOneObject) {
  amqp_table_entry_t entries[3] = {header("tenant", "acme"), header("id", "1"), header("id", "2")};
  entries[1].value.kind = AMQP_FIELD_KIND_I32;
  entries[1].value.value.i32 = -5;
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_HEADERS_FLAG;
  properties.headers = {.num_entries = 3, .entries = entries};
  const SourceRecord record = to_record(message(properties), false);
  EXPECT_EQ(*find(record, "headers.tenant"), (SourceField{"headers.tenant", "acme"}));
  EXPECT_EQ(*find(record, "headers.id"), (SourceField{"headers.id", "-5", true}));
  EXPECT_EQ(*find(record, "headers"),
            (SourceField{"headers", R"({"tenant":"acme","id":-5})", true}));
}

TEST(MessageFields, OtherContentEncodingsAreRejected) {
  for (const char* encoding : {"gzip", "deflate", "base64", "x\n\xFFy"}) {
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_CONTENT_ENCODING_FLAG;
    properties.content_encoding = amqp_cstring_bytes(encoding);
    const SourceRecord record = to_record(message(properties), false);
    ASSERT_TRUE(record.problem) << encoding;
  }
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_CONTENT_ENCODING_FLAG;
  properties.content_encoding = amqp_cstring_bytes("x\n\xFFy");
  EXPECT_EQ(to_record(message(properties), false).problem,
            "The content encoding `x??y` is not supported. Send the body as plain JSON.");
  properties.content_encoding = amqp_cstring_bytes("");
  EXPECT_FALSE(to_record(message(properties), false).problem);
}

TEST(MessageFields, TheMembersOfAnEnvelopeComeBeforeProperties) {
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
  properties.type = amqp_cstring_bytes("from.property");
  properties.message_id = amqp_cstring_bytes("m-1");
  const SourceRecord record =
      to_record(message(properties, R"({"type": "from.body", "data": {"a": 1.50}})"), true);
  EXPECT_EQ(*find(record, "type"), (SourceField{"type", R"("from.body")", true}));
  EXPECT_EQ(*find(record, "data"), (SourceField{"data", R"({"a": 1.50})", true}));
  EXPECT_EQ(value(record, "message_id"), "m-1");
  EXPECT_EQ(find(record, "body"), nullptr);
}

TEST(MessageFields, AnEnvelopeMustBeAnObject) {
  for (const char* body : {"", "[]", "1", "{", R"({"a":1,"a":2})", "\xFF"}) {
    const SourceRecord record = to_record(message({}, body), true);
    ASSERT_TRUE(record.problem) << body;
    EXPECT_TRUE(record.problem->starts_with("The body is not a JSON object: ")) << *record.problem;
  }
}

TEST(MessageFields, UnreadablePropertiesAreTolerated) {
  const SourceRecord record = to_record({.tag = 1, .properties = "\xFF\xFF", .body = "1"}, false);
  EXPECT_EQ(value(record, "body"), "1");
  EXPECT_EQ(value(record, "message_id"), "(none)");
}

TEST(MessageReader, AMessageIsCompleteWithItsLastFrame) {
  amqp_basic_deliver_t deliver{};
  deliver.delivery_tag = 3;
  deliver.exchange = amqp_cstring_bytes("x");
  deliver.routing_key = amqp_cstring_bytes("r");
  amqp_frame_t frame{};
  frame.frame_type = AMQP_FRAME_METHOD;
  frame.payload.method = {.id = AMQP_BASIC_DELIVER_METHOD, .decoded = &deliver};
  MessageReader reader;
  EXPECT_FALSE(reader.add(frame));
  amqp_frame_t properties{};
  properties.frame_type = AMQP_FRAME_HEADER;
  properties.payload.properties.body_size = 5;
  properties.payload.properties.raw = amqp_cstring_bytes("p");
  EXPECT_FALSE(reader.add(properties));
  amqp_frame_t body{};
  body.frame_type = AMQP_FRAME_BODY;
  body.payload.body_fragment = amqp_cstring_bytes("abc");
  EXPECT_FALSE(reader.add(body));
  body.payload.body_fragment = amqp_cstring_bytes("de");
  const std::optional<QueueMessage> complete = reader.add(body);
  ASSERT_TRUE(complete);
  EXPECT_EQ(complete->tag, 3u);
  EXPECT_EQ(complete->exchange + complete->routing_key + complete->properties, "xrp");
  EXPECT_EQ(complete->body, "abcde");

  EXPECT_FALSE(reader.add(frame));
  properties.payload.properties.body_size = 0;
  EXPECT_EQ(reader.add(properties)->body, "") << "a message without a body has no body frame";
}

}  // namespace
}  // namespace postrider::amqp
