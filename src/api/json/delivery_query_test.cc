#include "api/json/delivery_query.h"

#include <gtest/gtest.h>

namespace postrider::api {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

const WallTime now = wall_from_unix_ms(1'767'225'600'000);
constexpr std::chrono::hours hour{1};

HttpRequest with_query(Pairs query) {
  HttpRequest request;
  request.query = std::move(query);
  return request;
}

TEST(ReadDeliveryQuery, ReadsEveryFilter) {
  const std::string webhook = WebhookId{{1}}.to_string();
  const std::string event = EventId{{2}}.to_string();
  const auto asked = read_delivery_query(with_query({{"status", "pending,retrying"},
                                                     {"status", "cancelled"},
                                                     {"webhook_id", webhook},
                                                     {"event_id", event},
                                                     {"event_type", "a,b"},
                                                     {"failure_category", "dns"},
                                                     {"tenant_id", "t"},
                                                     {"from", "2026-01-01T00:00:00Z"},
                                                     {"to", "2026-01-01T02:00:00+01:00"},
                                                     {"limit", "7"},
                                                     {"offset", "3"}}));
  ASSERT_TRUE(asked) << asked.error().detail;
  const DeliveryFilter& filter = asked->filter;
  EXPECT_EQ(filter.states, (std::vector{DeliveryState::pending, DeliveryState::retrying,
                                        DeliveryState::cancelled}));
  EXPECT_EQ(filter.webhook_ids, std::vector{WebhookId{{1}}});
  EXPECT_EQ(filter.event_id, EventId{{2}});
  EXPECT_EQ(filter.event_types, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(filter.failure_categories, std::vector{FailureCategory::dns});
  EXPECT_EQ(filter.tenant_id, "t");
  EXPECT_EQ(filter.from, now);
  EXPECT_EQ(filter.to, now + hour);
  EXPECT_EQ(asked->page.limit, 7u);
  EXPECT_EQ(asked->page.offset, 3u);
}

TEST(ReadDeliveryQuery, NamesTheParameterThatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"status", "sleeping"},
      {"status", "in_flight"},
      {"status", ""},
      {"webhook_id", "whk_x"},
      {"event_id", "x"},
      {"event_type", "a\x01"},
      {"failure_category", "bad"},
      {"from", "yesterday"},
      {"to", "2026-13-01T00:00:00Z"},
      {"age", "lt_1h"},
      {"classification", "hopeless"},
  };
  for (const auto& [name, value] : cases) {
    const auto asked = read_delivery_query(with_query({{name, value}}));
    ASSERT_FALSE(asked) << name << "=" << value;
    EXPECT_EQ(asked.error().status, 400);
    EXPECT_EQ(asked.error().errors.front().field, name);
  }
  std::string many = "a";
  for (int index = 0; index < 100; ++index) {
    many += ",a";
  }
  EXPECT_FALSE(read_delivery_query(with_query({{"event_type", many}})));
  EXPECT_FALSE(
      read_delivery_query(with_query({{"webhook_id", WebhookId{}.to_string()}}), WebhookId{}));
}

TEST(ReadDeadLetterQuery, AgeBucketsMeetWithoutGapOrOverlap) {
  const auto range = [](const char* age) {
    const auto filter = read_dead_letter_filter(with_query({{"age", age}}), now);
    EXPECT_EQ(filter->states, std::vector{DeliveryState::dead_letter});
    return std::pair{filter->from, filter->to};
  };
  using Time = std::optional<WallTime>;
  EXPECT_EQ(range("lt_1h"), (std::pair{Time{now - hour}, Time{}}));
  EXPECT_EQ(range("1h_24h"), (std::pair{Time{now - 24 * hour}, Time{now - hour}}));
  EXPECT_EQ(range("gt_24h"), (std::pair{Time{}, Time{now - 24 * hour}}));
}

TEST(ReadDeadLetterQuery, AgeNarrowsARangeAndNeverWidensIt) {
  const auto filter = read_dead_letter_filter(with_query({{"age", "1h_24h"},
                                                          {"from", "2025-12-31T22:00:00Z"},
                                                          {"to", "2026-01-01T00:00:00Z"},
                                                          {"classification", "recoverable"}}),
                                              now);
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->from, now - 2 * hour);
  EXPECT_EQ(filter->to, now - hour);
  EXPECT_EQ(filter->classification, Classification::recoverable);
}

TEST(ReadDeadLetterQuery, TakesNoStatus) {
  EXPECT_FALSE(read_dead_letter_query(with_query({{"status", "pending"}})));
  EXPECT_FALSE(read_dead_letter_query(with_query({{"age", "old"}})));
  EXPECT_FALSE(read_dead_letter_query(with_query({{"classification", "odd"}})));
}

}  // namespace
}  // namespace postrider::api
