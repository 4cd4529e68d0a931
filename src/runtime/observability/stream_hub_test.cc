#include "runtime/observability/stream_hub.h"

#include <vector>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using std::chrono::seconds;

constexpr WallTime start = wall_from_unix_ms(1'700'000'000'000);

WebhookId webhook(std::uint8_t number) {
  WebhookId id{};
  id.bytes[15] = number;
  return id;
}

StreamEvent delivery_update(std::uint8_t webhook_number, WallTime at = start) {
  Settlement settlement;
  settlement.delivery.webhook_id = webhook(webhook_number);
  settlement.delivery.event_type = "order.paid";
  settlement.delivery.state = DeliveryState::succeeded;
  StreamEvent stream_event = stream_events_of(settlement, "acme");
  stream_event.at = at;
  return stream_event;
}

StreamEvent of_tenant(TenantId tenant_id) {
  StreamEvent stream_event = delivery_update(1);
  stream_event.tenant_id = std::move(tenant_id);
  return stream_event;
}

StreamEvent circuit_update(std::uint8_t webhook_number) {
  return {.at = start,
          .webhook_id = webhook(webhook_number),
          .tenant_id = "acme",
          .what = CircuitUpdate{CircuitState::closed, CircuitState::open}};
}

std::vector<std::uint64_t> sequences(const StreamHub::Batch& batch) {
  std::vector<std::uint64_t> found;
  for (const StreamHub::Item& item : batch.items) {
    EXPECT_EQ(item.position.epoch, 0xabu);
    found.push_back(item.position.sequence);
  }
  return found;
}

using Sequences = std::vector<std::uint64_t>;

class StreamHubTest : public testing::Test {
 protected:
  std::unique_ptr<StreamHub::Subscription> subscribe(
      StreamFilter filter = {}, std::optional<StreamPosition> seen = std::nullopt) {
    auto subscription = hub_.subscribe(std::move(filter), seen, [this] { ++wakes_; });
    EXPECT_TRUE(subscription.has_value());
    return *std::move(subscription);
  }

  StreamHub hub_{{.epoch = 0xab,
                  .subscribers_max = 2,
                  .queue_max = 3,
                  .recent_max = 4,
                  .recent_for = seconds{60}}};
  int wakes_ = 0;
};

TEST(StreamPosition, SurvivesTheTripThroughText) {
  EXPECT_EQ(to_string(StreamPosition{0xabc, 17}), "abc-17");
  EXPECT_EQ(parse_stream_position("abc-17"), (StreamPosition{0xabc, 17}));
  for (const char* text : {"", "-", "abc", "abc-", "-17", "abc-x", "abc-17 ", "xyz-1", "a-1-2",
                           "a-99999999999999999999999"}) {
    EXPECT_EQ(parse_stream_position(text), std::nullopt) << text;
  }
}

TEST_F(StreamHubTest, CountsNothingWithoutSubscribers) {
  EXPECT_FALSE(hub_.is_active());
  hub_.publish(delivery_update(1));
  const auto first = subscribe();
  EXPECT_TRUE(hub_.is_active());
  hub_.publish(delivery_update(1));
  EXPECT_EQ(sequences(first->take()), (Sequences{1}));
}

TEST_F(StreamHubTest, WakesASubscriberOnceUntilItTakes) {
  const auto subscription = subscribe();
  hub_.publish(delivery_update(1));
  hub_.publish(delivery_update(1));
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(sequences(subscription->take()), (Sequences{1, 2}));
  EXPECT_TRUE(subscription->take().items.empty());
  hub_.publish(delivery_update(1));
  EXPECT_EQ(wakes_, 2);
}

TEST_F(StreamHubTest, FiltersForEachSubscriber) {
  const auto one = subscribe({.webhook_ids = {webhook(1)}});
  const auto typed = subscribe({.event_types = {"order.paid"}});
  hub_.publish(circuit_update(1));
  hub_.publish(delivery_update(1));
  hub_.publish(delivery_update(2));
  EXPECT_EQ(sequences(one->take()), (Sequences{1, 2}));
  EXPECT_EQ(sequences(typed->take()), (Sequences{2, 3})) << "a circuit has no event type";
}

TEST(StreamFilter, NewDeliveriesArePendingAndThoseOfSeveralWebhooksPassEveryListOfThem) {
  const StreamEvent of_one{.at = start,
                           .webhook_id = webhook(1),
                           .tenant_id = "acme",
                           .what = DeliveriesCreated{.event_type = "order.paid", .count = 3}};
  StreamEvent of_several = of_one;
  of_several.webhook_id.reset();
  for (const StreamEvent& created : {of_one, of_several}) {
    EXPECT_TRUE(admits({}, created));
    EXPECT_TRUE(admits({.tenant_id = "acme", .webhook_ids = {webhook(1)}}, created));
    EXPECT_TRUE(admits({.states = {DeliveryState::pending}}, created));
    EXPECT_FALSE(admits({.states = {DeliveryState::succeeded}}, created));
    EXPECT_TRUE(admits({.event_types = {"order.*"}}, created));
    EXPECT_FALSE(admits({.event_types = {"order.sent"}}, created));
    EXPECT_FALSE(admits({.tenant_id = "other"}, created));
  }
  EXPECT_FALSE(admits({.webhook_ids = {webhook(2)}}, of_one));
  EXPECT_TRUE(admits({.webhook_ids = {webhook(2)}}, of_several));
}

TEST(StreamFilter, RestrictsByTenantWebhookTypeAndState) {
  const StreamEvent stream_event = delivery_update(1);
  EXPECT_TRUE(admits({}, stream_event));
  EXPECT_TRUE(admits({.tenant_id = "acme"}, stream_event));
  EXPECT_FALSE(admits({.tenant_id = "other"}, stream_event));
  EXPECT_FALSE(admits({.tenant_id = ""}, stream_event));
  EXPECT_FALSE(admits({.webhook_ids = {webhook(2)}}, stream_event));
  EXPECT_TRUE(admits({.states = {DeliveryState::succeeded}}, stream_event));
  EXPECT_FALSE(admits({.states = {DeliveryState::retrying}}, stream_event));
  EXPECT_FALSE(admits({.event_types = {"order"}}, stream_event));
  EXPECT_TRUE(admits({.event_types = {"order", "order.*"}}, stream_event));
  EXPECT_FALSE(admits({.states = {DeliveryState::succeeded}}, circuit_update(1)));
  EXPECT_FALSE(admits({.tenant_id = "other"}, circuit_update(1)));
}

TEST_F(StreamHubTest, ResumesAfterTheLastSeenEvent) {
  const auto stays = subscribe();
  for (int i = 0; i < 3; ++i) {
    hub_.publish(delivery_update(1));
  }
  EXPECT_EQ(sequences(subscribe({}, StreamPosition{0xab, 1})->take()), (Sequences{2, 3}));
  EXPECT_FALSE(subscribe({}, StreamPosition{0xab, 1})->take().reset);
  EXPECT_EQ(sequences(subscribe({}, StreamPosition{0xab, 0})->take()), (Sequences{1, 2, 3}));
  EXPECT_TRUE(subscribe({}, StreamPosition{0xab, 3})->take().items.empty());
  EXPECT_FALSE(subscribe({}, StreamPosition{0xab, 3})->take().reset);
}

TEST_F(StreamHubTest, FiltersAResumedStreamLikeALiveOne) {  // P11
  const auto stays = subscribe();
  hub_.publish(of_tenant("acme"));
  hub_.publish(of_tenant("other"));
  hub_.publish(circuit_update(2));
  const StreamPosition begin{0xab, 0};
  EXPECT_EQ(sequences(subscribe({.tenant_id = "acme"}, begin)->take()), (Sequences{1, 3}));
  EXPECT_EQ(sequences(subscribe({.tenant_id = "other"}, begin)->take()), (Sequences{2}));
  EXPECT_EQ(sequences(subscribe({.webhook_ids = {webhook(2)}}, begin)->take()), (Sequences{3}));
  EXPECT_EQ(sequences(subscribe({.event_types = {"order.paid"}}, begin)->take()),
            (Sequences{1, 2}));
}

TEST_F(StreamHubTest, AResumedSubscriberGetsWhatFollows) {
  const auto stays = subscribe();
  hub_.publish(delivery_update(1));
  const auto resumed = subscribe({.tenant_id = "acme"}, StreamPosition{0xab, 0});
  hub_.publish(of_tenant("other"));
  hub_.publish(delivery_update(1));
  EXPECT_EQ(sequences(resumed->take()), (Sequences{1, 3}));
}

TEST_F(StreamHubTest, ResetsASubscriberThatMissedEvents) {
  const auto stays = subscribe();
  for (int i = 0; i < 5; ++i) {  // One more than is kept.
    hub_.publish(delivery_update(1));
    (void)stays->take();
  }
  EXPECT_FALSE(subscribe({}, StreamPosition{0xab, 1})->take().reset);
  EXPECT_TRUE(subscribe({}, StreamPosition{0xab, 0})->take().reset) << "the first one is gone";
  EXPECT_TRUE(subscribe({}, StreamPosition{0xab, 6})->take().reset)
      << "a position that does not exist";
  EXPECT_TRUE(subscribe({}, StreamPosition{0xac, 4})->take().reset) << "another process";
  EXPECT_TRUE(subscribe({}, StreamPosition{})->take().reset);
}

TEST_F(StreamHubTest, KeepsEventsForAMinuteAfterTheLastSubscriberLeft) {
  subscribe().reset();
  hub_.publish(delivery_update(1));
  hub_.publish(delivery_update(1, start + seconds{59}));
  EXPECT_EQ(sequences(subscribe({}, StreamPosition{0xab, 0})->take()), (Sequences{1, 2}));

  hub_.publish(delivery_update(1, start + seconds{200}));
  hub_.publish(delivery_update(1, start + seconds{260}));
  EXPECT_FALSE(hub_.is_active()) << "nobody subscribed in time";
  EXPECT_TRUE(subscribe({}, StreamPosition{0xab, 3})->take().reset);
}

TEST_F(StreamHubTest, ResetsAPositionFromBeforeTheStreamWasIdle) {
  subscribe().reset();
  hub_.publish(delivery_update(1));
  hub_.publish(delivery_update(1, start + seconds{60}));  // Ends the minute, and is not kept.
  ASSERT_FALSE(hub_.is_active());
  const auto active = subscribe();  // Another subscriber came in between.
  EXPECT_TRUE(subscribe({}, StreamPosition{0xab, 1})->take().reset);
}

TEST_F(StreamHubTest, ASubscriberStartsTheMinuteAnew) {
  subscribe().reset();
  hub_.publish(delivery_update(1));
  subscribe().reset();
  hub_.publish(delivery_update(1, start + seconds{60}));
  EXPECT_TRUE(hub_.is_active()) << "the minute counts from the last subscriber";
}

TEST_F(StreamHubTest, DropsASubscriberThatIsTooSlow) {
  const auto slow = subscribe();
  for (int i = 0; i < 5; ++i) {
    hub_.publish(delivery_update(1));
  }
  const StreamHub::Batch batch = slow->take();
  EXPECT_EQ(sequences(batch), (Sequences{1, 2, 3}));
  EXPECT_TRUE(batch.dropped);
  EXPECT_EQ(wakes_, 1);
}

TEST_F(StreamHubTest, LimitsTheNumberOfSubscribers) {
  const auto first = subscribe();
  auto second = subscribe();
  EXPECT_EQ(hub_.subscribers(), 2u);
  EXPECT_EQ(hub_.subscribe({}, std::nullopt, [] {}).error().code, Errc::unavailable);
  second.reset();
  EXPECT_TRUE(hub_.subscribe({}, std::nullopt, [] {}).has_value());
}

}  // namespace
}  // namespace postrider
