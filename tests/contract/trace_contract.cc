// The trace context of events, and what their deliveries keep of it.
#include "tests/contract/store_contract.h"

namespace postrider::test {
namespace {

TraceContext sample_trace(std::uint8_t flags = trace_flag_sampled) {
  TraceContext trace{.trace_id = {}, .parent = {}, .flags = flags, .state = "rojo=00f0,congo=t61"};
  trace.trace_id.bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff};
  trace.parent.bytes = {0, 7, 0, 7, 0, 7, 0, 7};
  return trace;
}

/// As the intake makes it.
Publish traced(Publish publish, const TraceContext& trace) {
  publish.event.trace = trace;
  for (Delivery& delivery : publish.deliveries) {
    delivery.trace = mark_of(publish.event.trace);
  }
  return publish;
}

}  // namespace

TEST_P(TraceContract, IsStoredWithTheEvent) {
  const Publish publish = traced(script_.publish({first_}), sample_trace(3));
  commit({.publishes = {publish}});
  store_->reopen();
  EXPECT_EQ(history().find_event(publish.event.id)->trace, publish.event.trace);
  EXPECT_EQ(ledger().load_events({publish.event.id})->at(0).trace, publish.event.trace);
  EXPECT_EQ(history().list_events({}, {})->items.at(0).trace, publish.event.trace);
}

TEST_P(TraceContract, MayHaveNoParentAndNoState) {
  TraceContext trace = sample_trace();
  trace.parent = {};
  trace.state = {};
  const Publish publish = traced(script_.publish({}), trace);
  commit({.publishes = {publish}});
  store_->reopen();
  EXPECT_EQ(history().find_event(publish.event.id)->trace, trace);
}

TEST_P(TraceContract, AnEventWithoutOneHasNone) {
  const Publish publish = script_.publish({first_});
  commit({.publishes = {publish}});
  store_->reopen();
  EXPECT_EQ(history().find_event(publish.event.id)->trace, std::nullopt);
  EXPECT_EQ(record(publish.deliveries[0].id).delivery.trace, std::nullopt);
}

TEST_P(TraceContract, DeliveriesKeepTheTraceIdAndWhetherItIsSampled) {
  for (const std::uint8_t flags : {std::uint8_t{0}, trace_flag_sampled}) {
    const Publish publish = traced(script_.publish({first_, second_}), sample_trace(flags));
    const BatchReceipt receipt = commit({.publishes = {publish}});
    const TraceMark expected{sample_trace().trace_id, flags != 0};
    for (const Delivery& delivery : std::get<Accepted>(receipt.publishes.at(0)).deliveries) {
      EXPECT_EQ(delivery.trace, expected);
      EXPECT_EQ(record(delivery.id).delivery, delivery);
    }
  }
  store_->reopen();
  const LanePage page =
      load({.webhook_id = first_, .due_before = script_.now + Millis{1}, .limit = 5});
  ASSERT_EQ(page.deliveries.size(), 2u);
  EXPECT_FALSE(page.deliveries[0].trace->sampled);
  EXPECT_TRUE(page.deliveries[1].trace->sampled);
}

TEST_P(TraceContract, IsKeptWhenADeliveryIsSettledAndRevived) {
  const Publish publish = traced(script_.publish({first_}), sample_trace());
  const BatchReceipt receipt = commit({.publishes = {publish}});
  const Delivery delivery = std::get<Accepted>(receipt.publishes.at(0)).deliveries.at(0);
  settle(script_.death(delivery, {}));
  EXPECT_EQ(record(delivery.id).delivery.trace, delivery.trace);
  const Result<Delivery> revived =
      revive({.delivery_id = delivery.id, .now = script_.now, .priority = {}});
  ASSERT_TRUE(revived.has_value());
  EXPECT_EQ(revived->trace, delivery.trace);
}

TEST_P(TraceContract, ALateDeliveryKeepsIt) {
  const Publish publish = traced(script_.publish({}), sample_trace());
  commit({.publishes = {publish}});
  AddLateDelivery order = script_.add_late_delivery(publish.event.id, first_);
  order.delivery.trace = mark_of(publish.event.trace);
  const BatchReceipt receipt = commit({.late_deliveries = {order}});
  ASSERT_TRUE(receipt.late_deliveries.at(0));
  EXPECT_EQ(record(order.delivery.id).delivery.trace, order.delivery.trace);
  const Result<Listed<EventForWebhook>> events = history().list_events_for(first_, {}, {});
  ASSERT_EQ(events->items.size(), 1u);
  EXPECT_EQ(events->items[0].event.trace, publish.event.trace);
  EXPECT_EQ(events->items[0].delivery->delivery.trace, order.delivery.trace);
}

TEST_P(TraceContract, ADeliveryFromANoteKeepsIt) {
  Publish publish = traced(script_.publish({}), sample_trace());
  publish.fanout = Fanout{
      .webhooks = std::make_shared<const std::vector<WebhookId>>(std::vector{first_, second_}),
      .chosen = {},
      .count = 2,
      .due = script_.now};
  commit({.publishes = {publish}});
  UuidGenerator ids{11};
  const Result<FannedOut> made =
      ledger().fan_out({.tenant_id = "acme",
                        .limit = 5,
                        .now = script_.now,
                        .due_max = script_.now,
                        .exists = [](WebhookId) { return true; },
                        .new_id = [&] { return ids.make<DeliveryId>(script_.now); }});
  ASSERT_TRUE(made.has_value());
  ASSERT_EQ(made->parts.at(0).deliveries.size(), 2u);
  EXPECT_EQ(made->parts[0].event.trace, publish.event.trace);
  for (const Delivery& delivery : made->parts[0].deliveries) {
    EXPECT_EQ(delivery.trace, mark_of(publish.event.trace));
    EXPECT_EQ(record(delivery.id).delivery, delivery);
  }
}

}  // namespace postrider::test
