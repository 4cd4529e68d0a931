// The catalogue of event types.
#include <string>
#include <vector>

#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

/// Differs from the defaults in every field.
EventType unusual_type() {
  return {.name = "order.created",
          .description = "line\nbreak, \"quotes\"",
          .schema = R"({ "type" : "object" })",
          .example = R"({"ä":[1.50,null]})",
          .validate = false,
          .archived = true,
          .created_at = store_epoch,
          .updated_at = store_epoch + Millis{1}};
}

EventType plain_type(std::string name) {
  return {.name = std::move(name), .created_at = store_epoch, .updated_at = store_epoch};
}

}  // namespace

TEST_P(EventTypesContract, RoundTripInNameOrder) {
  EXPECT_TRUE(types().load()->empty());
  ASSERT_TRUE(types().put(plain_type("swap")).has_value());
  ASSERT_TRUE(types().put(unusual_type()).has_value());
  ASSERT_TRUE(types().put(plain_type("Order")).has_value());
  const std::vector<EventType> want = {plain_type("Order"), unusual_type(), plain_type("swap")};
  EXPECT_EQ(*types().load(), want);
  store_->reopen();
  EXPECT_EQ(*types().load(), want);
}

TEST_P(EventTypesContract, PuttingAgainReplaces) {
  ASSERT_TRUE(types().put(unusual_type()).has_value());
  EventType bare = plain_type(unusual_type().name);
  bare.description = "";
  ASSERT_TRUE(types().put(bare).has_value());
  EXPECT_EQ(*types().load(), std::vector<EventType>{bare});
}

TEST_P(EventTypesContract, RemovedTypeIsNotFoundAgain) {
  EXPECT_EQ(types().remove("order.created").error().code, Errc::not_found);
  ASSERT_TRUE(types().put(unusual_type()).has_value());
  ASSERT_TRUE(types().put(plain_type("swap")).has_value());
  ASSERT_TRUE(types().remove("order.created").has_value());
  EXPECT_EQ(types().remove("order.created").error().code, Errc::not_found);
  store_->reopen();
  EXPECT_EQ(*types().load(), std::vector<EventType>{plain_type("swap")});
}

}  // namespace postrider::test
