#include "client/event_text.h"

#include <gtest/gtest.h>

namespace postrider::client {
namespace {

NewEvent event_with(std::string data) {
  NewEvent event;
  event.type = "order.paid";
  event.data = std::move(data);
  return event;
}

TEST(EventText, HasTypeDataAndKeyAtLeast) {
  EXPECT_EQ(event_text(event_with(R"({"a": [1, 2]})"), "k").value(),
            R"({"type":"order.paid","data":{"a": [1, 2]},"idempotency_key":"k"})");
}

TEST(EventText, HasEveryMemberThatIsSet) {
  NewEvent event = event_with("null");
  event.tenant_id = "acme";
  event.resource_id = "order-7";
  event.ordering_key = "o";
  event.source = "shop \"north\"";
  event.metadata = R"({"trace":"x"})";
  event.priority = NewEvent::Priority::high;
  event.timestamp = std::chrono::system_clock::time_point{std::chrono::milliseconds{1'500}};
  EXPECT_EQ(event_text(event, "k").value(),
            R"({"type":"order.paid","data":null,"idempotency_key":"k","tenant_id":"acme",)"
            R"("resource_id":"order-7","ordering_key":"o","source":"shop \"north\"",)"
            R"("priority":"high","timestamp":"1970-01-01T00:00:01.500Z",)"
            R"("metadata":{"trace":"x"}})");
  event.priority = NewEvent::Priority::low;
  EXPECT_NE(event_text(event, "k").value().find(R"("priority":"low")"), std::string::npos);
}

TEST(EventText, IsRefusedIfDataOrMetadataIsNotOneJsonValue) {
  for (const char* data : {"", "{", "1 2", "nul", R"(1},{"type":"other","data":2)",
                           R"(1,"tenant_id":"other")", "\"\xff\""}) {
    const Result<std::string> text = event_text(event_with(data), "k");
    ASSERT_FALSE(text) << data;
    EXPECT_EQ(text.error().message.find("`data` is not valid JSON: "), 0u) << text.error().message;
  }
  NewEvent event = event_with("1");
  event.metadata = R"({"a":1},"tenant_id":"other")";
  EXPECT_FALSE(event_text(event, "k"));
}

TEST(EventText, IsRefusedIfATextIsNotUtf8) {
  NewEvent event = event_with("1");
  event.resource_id = "\xff";
  EXPECT_FALSE(event_text(event, "k"));
  event.resource_id = "Grüße\n";
  EXPECT_NE(event_text(event, "k").value().find(R"("resource_id":"Grüße\n")"), std::string::npos);
  EXPECT_FALSE(event_text(event_with("1"), "\xc3"));
}

TEST(EventText, IsRefusedIfDataIsNestedTooDeeplyForTheServer) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(event_text(event_with(nested(32)), "k"));
  EXPECT_FALSE(event_text(event_with(nested(33)), "k"));
}

}  // namespace
}  // namespace postrider::client
