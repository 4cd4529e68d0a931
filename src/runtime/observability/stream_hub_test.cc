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

StreamEvent circuit_update(std::uint8_t webhook_number) {
  return {.at = start,
          .webhook_id = webhook(webhook_number),
          .tenant_id = "acme",
          .what = CircuitUpdate{CircuitState::closed, CircuitState::open}};
}

std::vector<std::uint64_t> sequences(const StreamHub::Batch& batch) {
  std::vector<std::uint64_t> found;
  for (const StreamHub::Item& item : batch.items) {
    EXPECT_EQ(item.place.epoch, 0xabu);
    found.push_back(item.place.sequence);
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
                  .kept_max = 4,
                  .kept_for = seconds{60}}};
  int wakes_ = 0;
};

TEST(StreamPosition, IsTextThatComesBack) {
  EXPECT_EQ(to_string(StreamPosition{0xabc, 17}), "abc-17");
  EXPECT_EQ(parse_stream_place("abc-17"), (StreamPosition{0xabc, 17}));
  for (const char* text : {"", "-", "abc", "abc-", "-17", "abc-x", "abc-17 ", "xyz-1", "a-1-2",
                           "a-99999999999999999999999"}) {
    EXPECT_EQ(parse_stream_place(text), std::nullopt) << text;
  }
}

TEST_F(StreamHubTest, NothingIsCountedWhileNobodyListens) {
  EXPECT_FALSE(hub_.is_wanted());
  hub_.tell(delivery_update(1));
  const auto first = subscribe();
  EXPECT_TRUE(hub_.is_wanted());
  hub_.tell(delivery_update(1));
  EXPECT_EQ(sequences(first->take()), (Sequences{1}));
}

TEST_F(StreamHubTest, ASubscriberIsWokenOnceUntilItLooks) {
  const auto subscription = subscribe();
  hub_.tell(delivery_update(1));
  hub_.tell(delivery_update(1));
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(sequences(subscription->take()), (Sequences{1, 2}));
  EXPECT_TRUE(subscription->take().items.empty());
  hub_.tell(delivery_update(1));
  EXPECT_EQ(wakes_, 2);
}

TEST_F(StreamHubTest, EveryoneGetsWhatItAskedFor) {
  const auto one = subscribe({.webhook_ids = {webhook(1)}});
  const auto typed = subscribe({.event_types = {"order.paid"}});
  hub_.tell(circuit_update(1));
  hub_.tell(delivery_update(1));
  hub_.tell(delivery_update(2));
  EXPECT_EQ(sequences(one->take()), (Sequences{1, 2}));
  EXPECT_EQ(sequences(typed->take()), (Sequences{2, 3})) << "a circuit has no event type";
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

TEST_F(StreamHubTest, WhoComesBackGoesOnWhereItWas) {
  const auto stays = subscribe();
  for (int i = 0; i < 3; ++i) {
    hub_.tell(delivery_update(1));
  }
  EXPECT_EQ(sequences(subscribe({}, StreamPosition{0xab, 1})->take()), (Sequences{2, 3}));
  EXPECT_FALSE(subscribe({}, StreamPosition{0xab, 1})->take().reset);
  EXPECT_EQ(sequences(subscribe({}, StreamPosition{0xab, 0})->take()), (Sequences{1, 2, 3}));
  EXPECT_TRUE(subscribe({}, StreamPosition{0xab, 3})->take().items.empty());
  EXPECT_FALSE(subscribe({}, StreamPosition{0xab, 3})->take().reset);
}

TEST_F(StreamHubTest, WhoMissedSomethingIsTold) {
  const auto stays = subscribe();
  for (int i = 0; i < 5; ++i) {  // One more than is kept.
    hub_.tell(delivery_update(1));
    (void)stays->take();
  }
  EXPECT_FALSE(subscribe({}, StreamPosition{0xab, 1})->take().reset);
  EXPECT_TRUE(subscribe({}, StreamPosition{0xab, 0})->take().reset) << "the first one is gone";
  EXPECT_TRUE(subscribe({}, StreamPosition{0xab, 6})->take().reset) << "a place that never was";
  EXPECT_TRUE(subscribe({}, StreamPosition{0xac, 4})->take().reset) << "another process";
  EXPECT_TRUE(subscribe({}, StreamPosition{})->take().reset);
}

TEST_F(StreamHubTest, NewsAreKeptForAMinuteAfterTheLastOneLeft) {
  subscribe().reset();
  hub_.tell(delivery_update(1));
  hub_.tell(delivery_update(1, start + seconds{59}));
  EXPECT_EQ(sequences(subscribe({}, StreamPosition{0xab, 0})->take()), (Sequences{1, 2}));

  hub_.tell(delivery_update(1, start + seconds{200}));
  hub_.tell(delivery_update(1, start + seconds{260}));
  EXPECT_FALSE(hub_.is_wanted()) << "nobody came back";
  EXPECT_TRUE(subscribe({}, StreamPosition{0xab, 3})->take().reset);
}

TEST_F(StreamHubTest, WhoIsTooSlowIsDropped) {
  const auto slow = subscribe();
  for (int i = 0; i < 5; ++i) {
    hub_.tell(delivery_update(1));
  }
  const StreamHub::Batch batch = slow->take();
  EXPECT_EQ(sequences(batch), (Sequences{1, 2, 3}));
  EXPECT_TRUE(batch.dropped);
}

TEST_F(StreamHubTest, ThereIsALimitToSubscribers) {
  const auto first = subscribe();
  auto second = subscribe();
  EXPECT_EQ(hub_.subscribe({}, std::nullopt, [] {}).error().code, Errc::unavailable);
  second.reset();
  EXPECT_TRUE(hub_.subscribe({}, std::nullopt, [] {}).has_value());
}

}  // namespace
}  // namespace postrider
