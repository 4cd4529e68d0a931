#include <gtest/gtest.h>
#include <postrider/outbox.h>

namespace postrider::outbox {
namespace {

using Values = std::vector<std::string>;

NewEvent paid() {
  NewEvent event;
  event.type = "order.paid";
  event.data = R"({"order": 7})";
  return event;
}

TEST(OutboxInsert, NamesOnlyTheColumnsThatAreSet) {
  const Statement statement = insert(paid());
  EXPECT_EQ(statement.sql,
            R"(INSERT INTO "webhook_outbox" (type, data) VALUES ($1, $2) RETURNING id)");
  EXPECT_EQ(statement.values, (Values{"order.paid", R"({"order": 7})"}));
  EXPECT_EQ(statement.problem, "");
}

TEST(OutboxInsert, HasAColumnForEveryMember) {
  NewEvent event = paid();
  event.idempotency_key = "k";
  event.tenant_id = "acme";
  event.resource_id = "order-7";
  event.ordering_key = "o";
  event.priority = NewEvent::Priority::high;
  event.source = "shop";
  event.metadata = R"({"a":1})";
  event.timestamp = std::chrono::system_clock::time_point{std::chrono::milliseconds{-1'500}};
  const Statement statement = insert(event, "shop.out\"box");
  EXPECT_EQ(statement.sql,
            R"(INSERT INTO "shop"."out""box" (id, type, data, tenant_id, resource_id, )"
            R"(ordering_key, priority, source, metadata, created_at) VALUES ($1, $2, $3, $4, $5, )"
            "$6, $7, $8, $9, to_timestamp($10 / 1000.0)) RETURNING id");
  EXPECT_EQ(statement.values, (Values{"k", "order.paid", R"({"order": 7})", "acme", "order-7", "o",
                                      "high", "shop", R"({"a":1})", "-1500"}));
}

TEST(OutboxInsert, GivesPointersToItsValues) {
  const Statement statement = insert(paid());
  const std::vector<const char*> parameters = statement.parameters();
  ASSERT_EQ(parameters.size(), 2u);
  EXPECT_STREQ(parameters[0], "order.paid");
  EXPECT_EQ(parameters[1], statement.values[1].c_str());
}

TEST(OutboxInsert, RefusesWhatTheTableCannotHold) {
  const auto problem = [](void (*spoil)(NewEvent&)) {
    NewEvent event = paid();
    spoil(event);
    const Statement statement = insert(event);
    EXPECT_EQ(statement.sql, "");
    EXPECT_TRUE(statement.values.empty());
    return statement.problem;
  };
  EXPECT_EQ(problem([](NewEvent& event) { event.resource_id = std::string("a\0b", 3); }),
            "`resource_id` contains a NUL character.");
  EXPECT_EQ(problem([](NewEvent& event) { event.type = ""; }),
            "An event needs a `type` and `data`.");
  EXPECT_EQ(problem([](NewEvent& event) { event.data = ""; }),
            "An event needs a `type` and `data`.");
}

}  // namespace
}  // namespace postrider::outbox
