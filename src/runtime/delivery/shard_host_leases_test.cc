// Several nodes share the webhooks: what a host does when parts are acquired and lost.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/delivery/shard_host.h"

#include "tests/support/shard_host_driver.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::ShardHostDriver;
using test::status;
using Waited = Result<std::optional<Settlement>>;

class ShardHostLeases : public testing::Test {
 protected:
  /// Acquires the part of a new webhook.
  WebhookId add_webhook(const std::function<void(Webhook&)>& edit = {}) {
    return driver_.add_webhook([&](Webhook& webhook) {
      acquire(shard_of(webhook.id));
      if (edit) {
        edit(webhook);
      }
    });
  }
  void acquire(ShardNumber part) {
    driver_.host().feed(ShardAcquired{.shard = part, .epoch = ++epoch_});
  }
  void lose(WebhookId id, bool at_once) {
    driver_.host().feed(ShardLost{.shard = shard_of(id), .epoch = epoch_, .at_once = at_once});
  }
  template <class Kind>
  [[nodiscard]] std::ptrdiff_t count_inputs() const {
    return std::ranges::count_if(
        driver_.inputs, [](const Input& input) { return std::holds_alternative<Kind>(input); });
  }
  [[nodiscard]] bool mentions(WebhookId id) {
    return driver_.metrics->text().find(id.to_string()) != std::string::npos;
  }

  ShardHostDriver driver_{{.shard = {.leased = true}}};
  Epoch epoch_ = 0;
};

TEST_F(ShardHostLeases, ARequestBelongsToTheGroupOfItsPart) {
  const WebhookId webhook = add_webhook();
  driver_.admit(webhook);
  ASSERT_EQ(driver_.in_flight.size(), 1u);
  EXPECT_EQ(driver_.in_flight.front().request.group, shard_of(webhook));
}

TEST_F(ShardHostLeases, AProbeBelongsToNoPart) {
  driver_.host().probe(
      {.webhook = std::make_shared<const Webhook>(Webhook{.url = "https://a.example/"}),
       .event = {},
       .timeout = 1s,
       .done = [](const Outcome&) {}});
  EXPECT_EQ(driver_.in_flight.front().request.group, shard_count);
}

TEST_F(ShardHostLeases, NothingIsSentWithoutPermission) {
  const WebhookId webhook = add_webhook();
  driver_.not_permitted.insert(shard_of(webhook));
  driver_.admit(webhook);
  driver_.run_posted();
  EXPECT_TRUE(driver_.in_flight.empty());
  EXPECT_EQ(count_inputs<AttemptAbandoned>(), 1) << "it is not tried again at once";
  EXPECT_TRUE(driver_.settle_batches.empty());
  driver_.not_permitted.clear();
  driver_.ring();
  while (driver_.in_flight.empty() && driver_.alarm) {
    driver_.ring();
  }
  EXPECT_EQ(driver_.in_flight.size(), 1u);
}

TEST_F(ShardHostLeases, PermissionIsAskedWhenThePayloadHasArrived) {
  const WebhookId webhook = add_webhook();
  const auto [event, delivery] = driver_.make_delivery(webhook);
  driver_.host().feed(Admitted{{delivery}});
  driver_.run_posted();
  driver_.not_permitted.insert(shard_of(webhook));
  driver_.event_loads.front().done(std::vector<Event>{*event});
  driver_.run_posted();
  EXPECT_TRUE(driver_.in_flight.empty());
  EXPECT_EQ(count_inputs<AttemptAbandoned>(), 1);
}

TEST_F(ShardHostLeases, APartThatIsLostIsHandedBackBehindItsSettlementsAndCircuits) {
  const WebhookId webhook = add_webhook([](Webhook& each) {
    each.breaker.minimum_throughput = 1;
    each.breaker.error_threshold_percentage = 1;
  });
  driver_.admit(webhook);
  lose(webhook, false);
  EXPECT_EQ(driver_.in_flight.size(), 1u) << "it may end by itself";
  driver_.finish(status(500));
  driver_.confirm_settlements();
  EXPECT_EQ(driver_.calls, (std::vector<std::string>{"save_circuit", "settle", "handed_back"}));
  EXPECT_EQ(driver_.handed_back, std::vector<ShardNumber>{shard_of(webhook)});
}

TEST_F(ShardHostLeases, ThePartsRequestsAreEndedIfItIsLostAtOnce) {
  const WebhookId webhook = add_webhook();
  const WebhookId other = add_webhook();
  ASSERT_NE(shard_of(webhook), shard_of(other));
  driver_.admit(webhook);
  driver_.admit(other);
  driver_.admit(webhook);
  lose(webhook, true);
  ASSERT_EQ(driver_.in_flight.size(), 1u);
  EXPECT_EQ(driver_.in_flight.front().request.group, shard_of(other));
  EXPECT_EQ(count_inputs<AttemptAbandoned>(), 2);
  EXPECT_EQ(count_inputs<AttemptFinished>(), 0);
  EXPECT_EQ(driver_.handed_back, std::vector<ShardNumber>{shard_of(webhook)});
  driver_.finish(status(200));
  driver_.run_posted();
  EXPECT_EQ(driver_.settle_batches.size(), 1u) << "the other part goes on";
}

TEST_F(ShardHostLeases, AnAttemptThatWaitsForItsPayloadDoesNotDelayTheEnd) {
  const WebhookId webhook = add_webhook();
  const auto [event, delivery] = driver_.make_delivery(webhook);
  driver_.host().feed(Admitted{{delivery}});
  driver_.run_posted();
  ASSERT_EQ(driver_.event_loads.size(), 1u);
  lose(webhook, true);
  EXPECT_EQ(driver_.handed_back.size(), 1u);
  driver_.event_loads.front().done(std::vector<Event>{*event});
  driver_.run_posted();
  EXPECT_TRUE(driver_.in_flight.empty());
}

TEST_F(ShardHostLeases, SettlementsThatWereNotHandedOverYetGoToTheStore) {
  const WebhookId webhook = add_webhook();
  driver_.admit(webhook);
  driver_.finish(status(200));
  EXPECT_TRUE(driver_.settle_batches.empty());
  lose(webhook, true);
  EXPECT_EQ(driver_.calls, (std::vector<std::string>{"settle", "handed_back"}))
      << "the ledger decides";
}

TEST_F(ShardHostLeases, WebhooksOfPartsThatAreNotWorkedAreNotKept) {
  const WebhookId webhook = driver_.add_webhook([](Webhook& each) { each.url = "http://a.test/"; });
  driver_.host().feed(WebhookChanged{
      .webhook = driver_.last_webhook,
      .circuit = CircuitRecord{.state = CircuitState::open},
  });
  EXPECT_FALSE(mentions(webhook)) << driver_.metrics->text();
}

TEST_F(ShardHostLeases, AHandedBackWebhookLeavesTheMetricsAndKeepsItsAlerts) {
  const WebhookId webhook = add_webhook();
  driver_.host().feed(CircuitCommanded{.webhook_id = webhook, .action = CircuitAction::force_open});
  driver_.run_posted();
  ASSERT_TRUE(mentions(webhook)) << driver_.metrics->text();
  driver_.host().restore_alert(
      {.subject = {AlertKind::dns_failing, webhook}, .raised_at = driver_.clock.now().wall});
  lose(webhook, true);
  driver_.run_posted();
  EXPECT_FALSE(mentions(webhook)) << driver_.metrics->text();
  driver_.clock.advance(48h);
  driver_.host().check_alerts();
  EXPECT_TRUE(driver_.alerts.empty()) << "the next owner resolves it";
}

TEST_F(ShardHostLeases, ACommandIsReturnedBeforeThePartIsHandedBack) {
  const WebhookId webhook = add_webhook();
  driver_.admit(webhook);
  WebhookId idle = webhook;
  do {
    idle.bytes[1] = static_cast<std::uint8_t>(idle.bytes[1] + (++idle.bytes[0] == 0 ? 1 : 0));
  } while (shard_of(idle) != shard_of(webhook));
  driver_.host().feed(CircuitCommanded{.webhook_id = idle, .action = CircuitAction::force_open});
  driver_.run_posted();
  driver_.calls.clear();
  lose(webhook, true);
  EXPECT_EQ(driver_.calls, (std::vector<std::string>{"command_returned", "handed_back"}));
  ASSERT_EQ(driver_.returned.size(), 1u);
  EXPECT_EQ(driver_.returned.front().webhook_id, idle);
}

TEST_F(ShardHostLeases, AWaiterEndsWithoutAnAttemptWhenThePartIsHandedBack) {
  const WebhookId webhook = add_webhook();
  const WebhookId other = add_webhook();
  const Delivery delivery = driver_.admit(webhook);
  std::optional<Waited> waited;
  driver_.host().await_attempt({webhook, delivery.id}, 5s,
                               [&](Waited result) { waited = std::move(result); });
  epoch_ = 2;
  lose(other, true);
  EXPECT_FALSE(waited);
  lose(webhook, true);
  ASSERT_TRUE(waited && *waited);
  EXPECT_EQ(**waited, std::nullopt);
}

TEST_F(ShardHostLeases, APartThatIsAcquiredAgainSendsAgain) {
  const WebhookId webhook = add_webhook();
  driver_.admit(webhook);
  lose(webhook, true);
  acquire(shard_of(webhook));
  driver_.host().feed(WebhookChanged{.webhook = driver_.last_webhook, .at_start = true});
  driver_.admit(webhook);
  ASSERT_EQ(driver_.in_flight.size(), 1u);
  driver_.finish(status(200));
  driver_.run_posted();
  EXPECT_EQ(count_inputs<AttemptFinished>(), 1) << "not abandoned";
}

}  // namespace
}  // namespace postrider
