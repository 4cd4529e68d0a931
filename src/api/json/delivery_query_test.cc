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
  const auto query = read_delivery_query(with_query({{"status", "pending,retrying"},
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
  ASSERT_TRUE(query) << query.error().detail;
  const DeliveryFilter& filter = query->filter;
  EXPECT_EQ(filter.states, (std::vector{DeliveryState::pending, DeliveryState::retrying,
                                        DeliveryState::cancelled}));
  EXPECT_EQ(filter.webhook_ids, std::vector{WebhookId{{1}}});
  EXPECT_EQ(filter.event_id, EventId{{2}});
  EXPECT_EQ(filter.event_types, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(filter.failure_categories, std::vector{FailureCategory::dns});
  EXPECT_EQ(filter.tenant_id, "t");
  EXPECT_EQ(filter.from, now);
  EXPECT_EQ(filter.to, now + hour);
  EXPECT_EQ(query->page.limit, 7u);
  EXPECT_EQ(query->page.offset, 3u);
}

TEST(ReadDeliveryQuery, NamesTheInvalidParameter) {
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
    const auto query = read_delivery_query(with_query({{name, value}}));
    ASSERT_FALSE(query) << name << "=" << value;
    EXPECT_EQ(query.error().status, 400);
    EXPECT_EQ(query.error().errors.front().field, name);
  }
  std::string many = "a";
  for (int index = 0; index < 100; ++index) {
    many += ",a";
  }
  const auto too_many = read_delivery_query(with_query({{"event_type", many}}));
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().errors.at(0).message, "must have at most 100 items.");
}

TEST(ReadDeliveryQuery, AcceptsAliasesOfStates) {
  using enum DeliveryState;
  const std::pair<const char*, std::vector<DeliveryState>> cases[] = {
      {"success", {succeeded}},
      {"delivered,succeeded", {succeeded}},
      {"exhausted", {dead_letter}},
      {"dead_lettered,dead_letter", {dead_letter}},
      {"failed", {retrying, dead_letter}},
      {"failed,pending", {retrying, dead_letter, pending}},
      {"circuit_blocked", {}},
  };
  for (const auto& [words, states] : cases) {
    const auto query = read_delivery_query(with_query({{"status", words}}));
    ASSERT_TRUE(query) << words;
    EXPECT_EQ(query->filter.states, states) << words;
    EXPECT_EQ(query->filter.circuit_blocked, std::string{words} == "circuit_blocked");
  }
  const auto wrong = read_delivery_query(with_query({{"status", "sent"}}));
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().detail.find("dead_letter"), std::string::npos);
  EXPECT_NE(wrong.error().detail.find("exhausted"), std::string::npos);
}

TEST(ReadDeliveryQuery, DateIncludesItsWholeDay) {
  const auto query =
      read_delivery_query(with_query({{"from", "2026-01-01"}, {"to", "2026-01-01"}}));
  ASSERT_TRUE(query);
  EXPECT_EQ(query->filter.from, now);
  EXPECT_EQ(query->filter.to, now + 24 * hour);
}

TEST(ReadDeliveryQuery, OfOneWebhookTakesTheWebhookFromThePath) {
  const WebhookId webhook{{1}};
  const auto query = read_delivery_query(with_query({{"status", "pending"}}), webhook);
  ASSERT_TRUE(query);
  EXPECT_EQ(query->filter.webhook_ids, std::vector{webhook});
  const auto twice =
      read_delivery_query(with_query({{"webhook_id", webhook.to_string()}}), webhook);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().errors.at(0).field, "webhook_id");
}

TEST(ReadDeadLetterQuery, AgeBucketsHaveNoGapsAndDoNotOverlap) {
  const auto range = [](const char* age) {
    const auto filter = read_discard_query(with_query({{"age", age}}), now).value().filter;
    EXPECT_EQ(filter.states, std::vector{DeliveryState::dead_letter});
    return std::pair{filter.from, filter.to};
  };
  using Time = std::optional<WallTime>;
  EXPECT_EQ(range("lt_1h"), (std::pair{Time{now - hour}, Time{}}));
  EXPECT_EQ(range("1h_24h"), (std::pair{Time{now - 24 * hour}, Time{now - hour}}));
  EXPECT_EQ(range("gt_24h"), (std::pair{Time{}, Time{now - 24 * hour}}));
}

TEST(ReadDeadLetterQuery, AgeRestrictsATimeRangeAndNeverExtendsIt) {
  const auto filter = read_discard_query(with_query({{"age", "1h_24h"},
                                                     {"from", "2025-12-31T22:00:00Z"},
                                                     {"to", "2026-01-01T00:00:00Z"},
                                                     {"classification", "recoverable"}}),
                                         now);
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->filter.from, now - 2 * hour);
  EXPECT_EQ(filter->filter.to, now - hour);
  EXPECT_EQ(filter->filter.classification, Classification::recoverable);
}

TEST(ReadDeadLetterQuery, RefusesAnotherStatusAndInvalidValues) {
  for (const char* word : {"dead_letter", "failed", "exhausted", "dead_lettered"}) {
    const auto query = read_dead_letter_query(with_query({{"status", word}}));
    ASSERT_TRUE(query) << word;
    EXPECT_EQ(query->filter.states, std::vector{DeliveryState::dead_letter});
    EXPECT_FALSE(read_discard_query(with_query({{"status", word}}), now)) << word;
  }
  EXPECT_TRUE(read_dead_letter_query(
      with_query({{"age", "lt_1h"}, {"classification", "permanent"}, {"limit", "1"}})));
  for (const auto& [name, value] :
       Pairs{{"status", "pending"}, {"age", "old"}, {"classification", "odd"}}) {
    const auto query = read_dead_letter_query(with_query({{name, value}}));
    ASSERT_FALSE(query) << name;
    EXPECT_EQ(query.error().errors.at(0).field, name);
  }
}

TEST(ReadDiscardQuery, NeedsEitherAFilterOrAll) {
  EXPECT_TRUE(read_discard_query(with_query({{"all", "true"}}), now));
  EXPECT_TRUE(read_discard_query(with_query({{"event_type", "a"}}), now));
  for (const Pairs& query :
       {Pairs{}, Pairs{{"all", "false"}}, Pairs{{"all", "true"}, {"event_type", "a"}}}) {
    const auto filter = read_discard_query(with_query(query), now);
    ASSERT_FALSE(filter);
    EXPECT_EQ(filter.error().errors.at(0).field, "all");
  }
}

}  // namespace
}  // namespace postrider::api
