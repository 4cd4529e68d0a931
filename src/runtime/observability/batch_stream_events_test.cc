#include "runtime/observability/batch_stream_events.h"

#include <gtest/gtest.h>

#include "tests/support/manual_loop.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::ManualClock;

constexpr WallTime now = ManualClock::start;

WebhookRef webhook(std::uint8_t number, TenantId tenant_id) {
  Webhook made;
  made.id.bytes[15] = number;
  made.tenant_id = std::move(tenant_id);
  return std::make_shared<const Webhook>(made);
}

Delivery delivery(std::uint8_t webhook_number, DeliveryState state) {
  Delivery made;
  made.webhook_id.bytes[15] = webhook_number;
  made.state = state;
  made.due = now - 1h;
  return made;
}

const Directory directory{{webhook(1, "acme"), webhook(2, "other")}};

TEST(BatchStreamEvents, ASettlementIsAnEventOfItsWebhooksTenant) {
  Settlement settlement;
  settlement.delivery = delivery(2, DeliveryState::dead_letter);
  settlement.attempt = Attempt{};
  settlement.attempt->number = 3;
  settlement.attempt->failure_category = FailureCategory::timeout;
  settlement.attempt->outcome.http_status = 504;
  settlement.attempt->outcome.duration = 7ms;
  settlement.attempt->outcome.executed_at = now - 1s;
  settlement.dead = DeadReason{.reason = "max_attempts_exceeded"};
  const std::vector<StreamEvent> events =
      stream_events_of({.settlements = {settlement}}, {}, directory, now);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].tenant_id, "other");
  EXPECT_EQ(events[0].webhook_id, settlement.delivery.webhook_id);
  EXPECT_EQ(events[0].at, now - 1s);
  const auto& update = std::get<DeliveryUpdate>(events[0].what);
  EXPECT_EQ(update.delivery, settlement.delivery);
  EXPECT_EQ(update.attempt_number, 3u);
  EXPECT_EQ(update.failure, FailureCategory::timeout);
  EXPECT_EQ(update.http_status, 504);
  EXPECT_EQ(update.duration, Micros{7ms});
  EXPECT_EQ(update.dead, settlement.dead);
}

TEST(BatchStreamEvents, NewDeliveriesAreCountedForEachWebhook) {
  Publish publish;
  publish.event.tenant_id = "acme";
  BatchReceipt receipt;
  receipt.publishes = {Accepted{.deliveries = {delivery(1, DeliveryState::pending),
                                               delivery(3, DeliveryState::pending)}},
                       Duplicate{}, Accepted{.deliveries = {delivery(1, DeliveryState::pending)}}};
  receipt.late_deliveries = {delivery(2, DeliveryState::pending), std::nullopt,
                             delivery(9, DeliveryState::pending)};
  const std::vector<StreamEvent> events =
      stream_events_of({.publishes = {publish, publish, publish}}, receipt, directory, now);
  std::vector<std::tuple<TenantId, std::uint8_t, std::uint64_t>> created;
  for (const StreamEvent& event : events) {
    EXPECT_EQ(event.at, now);
    created.emplace_back(event.tenant_id, event.webhook_id->bytes[15],
                         std::get<DeliveriesCreated>(event.what).count);
  }
  EXPECT_EQ(created, (decltype(created){{"acme", 1, 2}, {"acme", 3, 1}, {"other", 2, 1}}));
}

TEST(BatchStreamEvents, RevivalsAndCancellationsThatWorkedAreEvents) {
  BatchReceipt receipt;
  receipt.revivals = {fail(Errc::conflict, "Moved on."), delivery(1, DeliveryState::retrying)};
  receipt.cancels = {delivery(2, DeliveryState::cancelled), fail(Errc::not_found, "Unknown.")};
  const std::vector<StreamEvent> events = stream_events_of({}, receipt, directory, now);
  std::vector<DeliveryState> states;
  for (const StreamEvent& event : events) {
    EXPECT_EQ(event.at, now);
    states.push_back(std::get<DeliveryUpdate>(event.what).delivery.state);
  }
  EXPECT_EQ(states, (std::vector{DeliveryState::retrying, DeliveryState::cancelled}));
}

TEST(BatchStreamEvents, LeavesOutDeliveriesOfUnknownWebhooks) {  // P11
  Settlement settlement;
  settlement.delivery = delivery(9, DeliveryState::succeeded);
  BatchReceipt receipt;
  receipt.revivals = {delivery(9, DeliveryState::pending)};
  EXPECT_TRUE(stream_events_of({.settlements = {settlement}}, receipt, directory, now).empty());
}

TEST(BatchStreamPublisher, PublishesToSubscribersOfTheTenant) {
  StreamHub hub{{.epoch = 1}};
  const AdminChanges changes{directory, AccessSnapshot{}, ChannelDirectory{}};
  const ManualClock clock;
  BatchStreamPublisher publisher{hub, changes, clock};
  BatchReceipt receipt;
  receipt.revivals = {delivery(1, DeliveryState::pending), delivery(2, DeliveryState::pending)};
  publisher.publish({}, receipt);  // Without subscribers nothing happens.
  auto subscription = hub.subscribe({.tenant_id = "acme"}, std::nullopt, [] {});
  ASSERT_TRUE(subscription.has_value());
  publisher.publish({}, receipt);
  const StreamHub::Batch seen = (*subscription)->take();
  ASSERT_EQ(seen.items.size(), 1u);
  EXPECT_EQ(seen.items.front().stream_event->tenant_id, "acme");
  EXPECT_EQ(seen.items.front().position.sequence, 1u);
}

}  // namespace
}  // namespace postrider
