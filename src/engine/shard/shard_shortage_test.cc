// Attempts that were not made because this server lacked a resource.
#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::ShardDriver;

class ShardShortage : public testing::Test {
 protected:
  std::vector<StartAttempt> starts() { return driver_.take<StartAttempt>(); }
  void postpone(const StartAttempt& start, Shortage shortage) {
    driver_.feed(AttemptAbandoned{start.delivery.webhook_id, start.delivery.id, shortage});
  }

  ShardDriver driver_;
  WebhookId webhook_ = driver_.add_webhook();
};

TEST_F(ShardShortage, CostNeitherAttemptsNorTheCircuit) {
  driver_.admit(webhook_);
  StartAttempt start = starts().at(0);
  for (int round = 0; round < 50; ++round) {
    postpone(start, Shortage::server);
    EXPECT_TRUE(driver_.take<Settle>().empty());
    EXPECT_TRUE(driver_.take<SaveCircuit>().empty());
    std::vector<StartAttempt> again;
    while (again.empty()) {
      ASSERT_TRUE(driver_.ring_next());
      again = starts();
    }
    start = again.at(0);
    EXPECT_EQ(start.attempt_number, 1u);
  }
  driver_.finish(start, answered(200));
  const std::vector<Settle> settles = driver_.take<Settle>();
  ASSERT_EQ(settles.size(), 1u);
  EXPECT_EQ(settles[0].settlement.delivery.state, DeliveryState::succeeded);
  EXPECT_EQ(settles[0].settlement.delivery.attempt_count, 1u);
  EXPECT_EQ(driver_.view(webhook_).circuit.state, CircuitState::closed);
  EXPECT_EQ(driver_.view(webhook_).calls.failures, 0u);
}

TEST_F(ShardShortage, OfTheServerPausesAllLanes) {
  const WebhookId other = driver_.add_webhook();
  driver_.admit(webhook_);
  postpone(starts().at(0), Shortage::server);
  driver_.admit(other);
  EXPECT_TRUE(starts().empty());
  EXPECT_EQ(driver_.view(other).blocked, BlockReason::slots);
  ASSERT_TRUE(driver_.ring_next());
  const std::vector<StartAttempt> next = starts();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].delivery.webhook_id, other);
}

TEST_F(ShardShortage, OfADestinationPausesNobodyElse) {
  const WebhookId other = driver_.add_webhook();
  driver_.admit(webhook_);
  postpone(starts().at(0), Shortage::destination);
  driver_.admit(other);
  EXPECT_EQ(starts().size(), 1u);
}

TEST_F(ShardShortage, DoesNotKeepADrainFromEnding) {
  driver_.admit(webhook_);
  const StartAttempt start = starts().at(0);
  driver_.feed(DrainRequested{});
  postpone(start, Shortage::server);
  EXPECT_EQ(driver_.take<Drained>().size(), 1u);
}

}  // namespace
}  // namespace postrider
