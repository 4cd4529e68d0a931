// A node that drains and stops, and one whose store fails.
#include <gtest/gtest.h>

#include "tests/support/node_fixture.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::StoreFault;

class NodeShutdownTest : public test::NodeFixture {
 protected:
  const WebhookId first_ = make_webhook(1, "a.example").id;
};

TEST_F(NodeShutdownTest, DrainFinishesWhatIsInFlight) {  // P10
  start({.worker_count = 2});
  add_webhook(make_webhook(1, "a.example"));
  receivers_.hold("a.example");
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return receivers_.count("a.example") == 1; }));
  std::atomic<int> drained = 0;
  node_->drain([&] { ++drained; });
  EXPECT_TRUE(service().not_ready());
  const auto refused = publish(2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_TRUE(has_metric("postrider_publish_refused_total{reason=\"draining\"} 1"));
  EXPECT_EQ(drained, 0);
  receivers_.release("a.example");
  EXPECT_TRUE(eventually([&] { return drained == 1; }));
  EXPECT_EQ(count(first_, DeliveryState::succeeded), 1u) << "stored before the drain ends";
  stop();
  EXPECT_EQ(drained, 1);
}

TEST_F(NodeShutdownTest, StopHandsBackWhatIsInFlight) {  // P2, P10
  start();
  add_webhook(make_webhook(1, "a.example"));
  receivers_.hold("a.example");
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return receivers_.count("a.example") == 1; }));
  stop();
  EXPECT_EQ(count(first_, DeliveryState::pending), 1u);
  EXPECT_TRUE(look([](const MemoryStore& store) { return store.attempts.empty(); }));
  receivers_.release("a.example");
  start();
  EXPECT_TRUE(eventually([&] { return count(first_, DeliveryState::succeeded) == 1; }));
  EXPECT_EQ(receivers_.count("a.example"), 2u);
}

TEST_F(NodeShutdownTest, StopEndsADrainThatWaitsForAReceiver) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  receivers_.hold("a.example");
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return receivers_.count("a.example") == 1; }));
  std::atomic<int> drained = 0;
  node_->drain([&] { ++drained; });
  stop();
  EXPECT_EQ(drained, 1);
}

TEST_F(NodeShutdownTest, StopStoresWhatHasFinished) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  for (std::uint8_t number = 1; number <= 20; ++number) {
    ASSERT_TRUE(publish(number));
  }
  ASSERT_TRUE(eventually([&] { return receivers_.count("a.example") == 20; }));
  stop();
  EXPECT_EQ(count(first_, DeliveryState::succeeded) + count(first_, DeliveryState::pending), 20u);
}

TEST_F(NodeShutdownTest, StopBeforeStartDoesNothing) {
  Result<std::unique_ptr<Node>> node = make_node({}, make_parts(), {});
  ASSERT_TRUE(node);
  (*node)->stop();
}

TEST_F(NodeShutdownTest, RefusesPublishesWhileTheStoreFailsAndRecovers) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  store_fault_ = StoreFault::lost;
  const auto failed = publish(1);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::unavailable);
  EXPECT_TRUE(service().not_ready());
  EXPECT_FALSE(publish(2));
  EXPECT_TRUE(has_metric("postrider_publish_refused_total{reason=\"store\"} 1"));
  EXPECT_EQ(receivers_.count("a.example"), 0u);
  store_fault_ = std::nullopt;
  ASSERT_TRUE(eventually([&] { return !service().not_ready(); }));
  ASSERT_TRUE(publish(3));
  EXPECT_TRUE(eventually([&] { return count(first_, DeliveryState::succeeded) == 1; }));
}

TEST_F(NodeShutdownTest, DeliversWhatAFailedCommitStoredAfterAll) {  // P1, P2
  start();
  add_webhook(make_webhook(1, "a.example"));
  store_fault_ = StoreFault::ambiguous;
  EXPECT_FALSE(publish(1));
  EXPECT_EQ(receivers_.count("a.example"), 0u);
  store_fault_ = std::nullopt;
  EXPECT_TRUE(eventually([&] { return count(first_, DeliveryState::succeeded) == 1; }));
  EXPECT_EQ(receivers_.count("a.example"), 1u);
}

TEST_F(NodeShutdownTest, RepeatsAFailedSettlementAndCountsItOnce) {
  start();
  add_webhook(make_webhook(1, "a.example"));
  receivers_.hold("a.example");
  ASSERT_TRUE(publish(1));
  ASSERT_TRUE(eventually([&] { return receivers_.count("a.example") == 1; }));
  store_fault_ = StoreFault::lost;
  receivers_.release("a.example");
  ASSERT_TRUE(eventually([&] { return service().not_ready().has_value(); }));
  store_fault_ = std::nullopt;
  EXPECT_TRUE(eventually([&] {
    clock_.advance(1ms);
    return count(first_, DeliveryState::succeeded) == 1;
  }));
  EXPECT_EQ(receivers_.count("a.example"), 1u) << "not sent again";
  EXPECT_TRUE(
      has_metric("webhook_deliveries_total{event_type=\"order.paid\",failure_category="
                 "\"none\",status=\"success\",tenant_id=\"\"} 1"))
      << service().metrics_text();
}

TEST_F(NodeShutdownTest, RaisesAnAlertWhileTheStoreKeepsFailing) {
  start();
  store_fault_ = StoreFault::lost;
  EXPECT_FALSE(publish(1));
  ASSERT_TRUE(
      eventually([&] { return has_metric("postrider_alerts_active{kind=\"store_failing\"} 1"); }));
  store_fault_ = std::nullopt;
  ASSERT_TRUE(eventually([&] { return !service().not_ready(); }));
  ASSERT_TRUE(publish(2));
  EXPECT_TRUE(eventually([&] {
    const auto alert = find_alert({AlertKind::store_failing, std::nullopt});
    return alert && alert->resolved_at;
  }));
}

}  // namespace
}  // namespace postrider
