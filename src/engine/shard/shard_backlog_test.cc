// Healthy webhooks with a backlog do not keep others waiting: while a webhook has work, it starts
// within a bounded number of finished attempts (P5).
#include <algorithm>
#include <deque>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/shard/shard_driver_test.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::answered;
using test::failed;
using test::ShardDriver;

constexpr ShardOptions few{
    .in_flight_max = 32, .tenant_in_flight_max = 16, .first_attempt_reserve = 8};

/// Webhooks that always have work. Attempts end in the order in which they start.
class Backlog : public testing::Test {
 protected:
  void add_webhooks(const std::string& tenant_id, int count, const std::string& host = {}) {
    for (int number = 0; number < count; ++number) {
      webhooks_.push_back(driver_.add_webhook([&](Webhook& webhook) {
        webhook.tenant_id = tenant_id;
        if (!host.empty()) {
          webhook.url = fmt::format("https://{}/{}", host, number);
        }
      }));
      waits_since_[webhooks_.back()] = finished_;
      driver_.admit_many(webhooks_.back(), 8);
    }
    collect();
  }
  /// Webhooks that never answer.
  void add_hanging(const std::string& tenant_id, int count) {
    for (int number = 0; number < count; ++number) {
      const WebhookId id =
          driver_.add_webhook([&](Webhook& webhook) { webhook.tenant_id = tenant_id; });
      hanging_[id] = true;
      driver_.admit_many(id, 3);
    }
    collect();
  }
  void finish(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_FALSE(running_.empty());
      const StartAttempt start = running_.front();
      running_.pop_front();
      ++finished_;
      driver_.pass(1ms);
      driver_.finish_and_settle(start, answered(200));
      driver_.admit(start.delivery.webhook_id);
      if (i % 10 == 0) {
        driver_.ring_after(20ms);  // Tenants that were refused ask again.
      }
      collect();
    }
  }
  /// How many attempts have finished while a webhook had work and none of its own started. The
  /// largest number so far, of all webhooks.
  [[nodiscard]] std::int64_t longest_wait() const {
    std::int64_t longest = longest_;
    for (const auto& [id, since] : waits_since_) {
      longest = std::max(longest, finished_ - since);
    }
    return longest;
  }
  [[nodiscard]] std::int64_t starts_of(WebhookId id) { return starts_[id]; }

  ShardDriver driver_{few};
  std::vector<WebhookId> webhooks_;

 private:
  void collect() {
    for (StartAttempt& start : driver_.take<StartAttempt>()) {
      const WebhookId id = start.delivery.webhook_id;
      if (hanging_.contains(id)) {
        continue;
      }
      ++starts_[id];
      longest_ = std::max(longest_, finished_ - waits_since_[id]);
      waits_since_[id] = finished_;
      running_.push_back(std::move(start));
    }
  }

  std::deque<StartAttempt> running_;
  std::map<WebhookId, bool> hanging_;
  std::map<WebhookId, std::int64_t> starts_;
  std::map<WebhookId, std::int64_t> waits_since_;  // In finished attempts.
  std::int64_t finished_ = 0;
  std::int64_t longest_ = 0;
};

TEST_F(Backlog, OfOneTenantReachesEveryWebhook) {
  add_webhooks("one", 100);
  finish(3'000);
  EXPECT_LT(longest_wait(), 600) << "six rounds";
}

TEST_F(Backlog, OfOneTenantOnOneHostReachesEveryWebhook) {
  add_webhooks("one", 100, "one.example");
  finish(3'000);
  EXPECT_LT(longest_wait(), 600) << "six rounds";
}

TEST_F(Backlog, OfManyTenantsReachesEveryWebhook) {
  for (int tenant = 0; tenant < 20; ++tenant) {
    add_webhooks(fmt::format("tenant-{}", tenant), 6);
  }
  finish(4'000);
  EXPECT_LT(longest_wait(), 1'200) << "ten rounds";
}

TEST_F(Backlog, OfMoreTenantsThanSlotsReachesEveryWebhook) {
  for (int tenant = 0; tenant < 60; ++tenant) {
    add_webhooks(fmt::format("tenant-{}", tenant), 2, "one.example");
  }
  finish(4'000);
  EXPECT_LT(longest_wait(), 1'200) << "ten rounds";
}

TEST_F(Backlog, DoesNotKeepANewWebhookWaiting) {
  for (int tenant = 0; tenant < 10; ++tenant) {
    add_webhooks(fmt::format("tenant-{}", tenant), 10);
  }
  finish(2'000);
  add_webhooks("tenant-0", 1);
  finish(40);
  EXPECT_GT(starts_of(webhooks_.back()), 0);
  add_webhooks("new", 1);
  finish(40);
  EXPECT_GT(starts_of(webhooks_.back()), 0);
}

TEST_F(Backlog, BesideHangingWebhooksReachesEveryWebhook) {
  for (int tenant = 0; tenant < 4; ++tenant) {
    add_webhooks(fmt::format("tenant-{}", tenant), 10);
  }
  finish(400);
  add_hanging("tenant-0", 40);
  for (int tenant = 0; tenant < 6; ++tenant) {
    add_hanging(fmt::format("hostile-{}", tenant), 3);
  }
  finish(2'000);
  EXPECT_LT(longest_wait(), 400);
  add_webhooks("new", 1);
  finish(100);
  EXPECT_GT(starts_of(webhooks_.back()), 0);
  const std::int64_t before = starts_of(webhooks_.back());
  finish(500);
  EXPECT_GT(starts_of(webhooks_.back()), before + 5);
}

TEST_F(Backlog, DoesNotKeepAWebhookWaitingThatWasSlowOnce) {
  add_webhooks("slow", 1);
  driver_.ring_after(3s);
  finish(1);
  add_webhooks("one", 60);
  add_webhooks("two", 60);
  finish(1'500);
  const std::int64_t before = starts_of(webhooks_.front());
  finish(500);
  EXPECT_GT(starts_of(webhooks_.front()), before + 5);
}

}  // namespace
}  // namespace postrider
