// Two servers that share a store: the work that one of them does for both.
#include "runtime/cluster/two_nodes_fixture.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::lease_length;
using test::TwoNodesTest;

/// The leader makes the deliveries and must learn of the event at once.
TEST_F(TwoNodesTest, AnEventForManyWebhooksIsDeliveredSoonWhereverItIsPublished) {
  for (std::uint8_t number = 1; number <= 101; ++number) {
    const Webhook webhook = make_webhook(number, "h1.example");
    shared_.rows.webhooks.emplace(webhook.id, webhook);
  }
  start_both();
  const MonoTime begun = clock_.now().mono;
  publish_at(1 - leader(), 1);
  EXPECT_TRUE(passes([&] { return receivers_.count("h1.example") == 101; }));
  EXPECT_LT(clock_.now().mono - begun, 2s);
}

TEST_F(TwoNodesTest, ANotificationThatWaitsIsSentOnceAlthoughTheLeaderChanges) {
  add_channel(1min);
  start_both();
  const Webhook webhook = webhook_of(leader());
  const std::size_t first = leader();
  add(first, webhook);
  switch_off(webhook);
  ASSERT_TRUE(passes([&] { return notifications_in(NotificationState::waiting) == 1; }));
  std::atomic<bool> drained = false;
  nodes_[first]->drain([&] { drained = true; });
  ASSERT_TRUE(passes([&] { return drained && held(1 - first) == shard_count; }));
  clock_.advance(1min);
  EXPECT_TRUE(passes([&] { return notifications_in(NotificationState::sent) == 1; }));
  EXPECT_TRUE(passes([&] { return has_nothing_to_tell(0) && has_nothing_to_tell(1); }));
  EXPECT_EQ(mailbox_.mails().size(), 1u);
}

/// For example because the database was away for longer than a lease.
TEST_F(TwoNodesTest, ANotificationThatWaitsIsSentOnceAlthoughTheLeaderLosesItsLease) {
  add_channel(1min);
  start(0);
  ASSERT_TRUE(passes([&] { return held(0) == shard_count; }));
  const Webhook webhook = webhook_of(0);
  add(0, webhook);
  switch_off(webhook);
  ASSERT_TRUE(passes([&] { return notifications_in(NotificationState::waiting) == 1; }));
  const Epoch epoch = shared_.leases.lease("", 0).epoch;
  clock_.advance(lease_length);
  ASSERT_TRUE(passes([&] { return shared_.leases.lease("", 0).epoch > epoch; }));
  clock_.advance(1min);
  ASSERT_TRUE(passes([&] { return notifications_in(NotificationState::sent) == 1; }));
  ASSERT_EQ(mailbox_.mails().size(), 1u);
  EXPECT_EQ(mailbox_.mails().front().subject,
            "[Postrider] Webhook disabled: " + webhook.id.to_string());
}

TEST_F(TwoNodesTest, ARecoveryIsToldByTheServerThatLeadsNext) {
  add_channel(0ms);
  start_both();
  const std::size_t first = leader();
  const Webhook webhook = webhook_of(first);
  add(first, webhook);
  switch_off(webhook);
  ASSERT_TRUE(passes([&] { return notifications_in(NotificationState::sent) == 1; }));
  end(nodes_[first]);
  ASSERT_TRUE(passes([&] { return held(1 - first) == shard_count; }));
  switch_on(1 - first, webhook);
  EXPECT_TRUE(passes([&] { return notifications_in(NotificationState::sent) == 2; }));
  EXPECT_EQ(mailbox_.mails().size(), 2u);
}

TEST_F(TwoNodesTest, AnOperationIsRunByTheLeaderWhereverItIsStarted) {
  start_both();
  const Webhook webhook = webhook_of(0);
  add(0, webhook);
  receivers_.answer(host_of(webhook), 410);
  publish_at(0, 1);
  ASSERT_TRUE(passes([&] { return count_of(webhook, DeliveryState::dead_letter) == 1; }));
  receivers_.answer(host_of(webhook), 200);
  ASSERT_TRUE(ask(0, [&] {
    return service(0).edit_webhook(
        webhook.id,
        [](const Webhook& known) {
          Webhook changed = known;
          changed.active = true;
          return Result<Webhook>{changed};
        },
        entry(), std::nullopt);
  }));
  Operation operation;
  operation.id = OperationId{{1}};
  operation.kind = OperationKind::retry_batch;
  operation.created_at = clock_.now().wall;
  ASSERT_TRUE(ask(1, [&] {
    return service(1).start_operation(operation, ShareOwner{}, entry(), std::nullopt);
  }));
  EXPECT_TRUE(delivers(webhook));
}

/// Less time passes than until the other looks by itself, so it has been woken.
TEST_F(TwoNodesTest, TheOtherSendsAtOnceWhatAnOperationRevives) {
  start_both();
  const std::size_t first = leader();
  Webhook webhook = webhook_of(1 - first);
  webhook.retry.attempts_max = 1;
  add(1 - first, webhook);
  receivers_.answer(host_of(webhook), 500);
  publish_at(1 - first, 1);
  publish_at(1 - first, 2);
  ASSERT_TRUE(passes([&] { return count_of(webhook, DeliveryState::dead_letter) == 2; }));
  receivers_.answer(host_of(webhook), 200);
  Operation operation;
  operation.id = OperationId{{1}};
  operation.kind = OperationKind::retry_batch;
  operation.spec.requests_per_second = 10;
  operation.created_at = clock_.now().wall;
  const std::size_t sent = signals_.sent();
  ASSERT_TRUE(ask(first, [&] {
    return service(first).start_operation(operation, ShareOwner{}, entry(), std::nullopt);
  }));
  ASSERT_TRUE(eventually([&] { return signals_.sent() > sent; }));
  EXPECT_TRUE(
      passes([&] { return count_of(webhook, DeliveryState::succeeded) == 2; }, Millis{900}));
}

/// The server at which it was started has not run it and must not believe so.
TEST_F(TwoNodesTest, AnOperationIsContinuedByTheServerThatLeadsNext) {
  start_both();
  Operation operation;
  operation.id = OperationId{{1}};
  operation.kind = OperationKind::retry_batch;
  operation.created_at = clock_.now().wall;
  operation.due = clock_.now().wall + 1h;
  ASSERT_TRUE(ask(1, [&] {
    return service(1).start_operation(operation, ShareOwner{}, entry(), std::nullopt);
  }));
  clock_.jump_wall(2h);
  end(nodes_[0]);
  EXPECT_TRUE(passes([&] {
    const std::lock_guard lock{shared_.rows.mutex};
    return !is_unfinished(shared_.rows.operations.at(operation.id).status);
  }));
}

}  // namespace
}  // namespace postrider
