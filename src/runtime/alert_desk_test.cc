#include "runtime/alert_desk.h"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
const WebhookId webhook{{1}};

class AlertDeskTest : public testing::Test {
 protected:
  AlertDesk make_desk(std::vector<Alert> active = {}) {
    return AlertDesk{std::move(active),
                     {.make_id = [this] { return AlertId{{++ids_}}; }, .metrics = metrics_.get()}};
  }
  static AlertChange change(AlertKind kind, bool active) {
    return {.subject = {kind, webhook}, .active = active, .detail = "It happened."};
  }
  std::vector<Alert> stored() {
    std::vector<Alert> alerts;
    for (const auto& [sequence, alert] : store_.alerts) {
      alerts.push_back(alert);
    }
    return alerts;
  }

  MemoryStore store_;
  Store roles_ = make_memory_store(store_);
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  std::uint8_t ids_ = 0;
};

TEST_F(AlertDeskTest, RaisesOnceAndResolvesOnce) {
  AlertDesk desk = make_desk();
  EXPECT_FALSE(desk.owes());
  desk.change(change(AlertKind::dns_failing, false), "acme", noon);
  EXPECT_FALSE(desk.owes());
  desk.change(change(AlertKind::dns_failing, true), "acme", noon);
  desk.change(change(AlertKind::dns_failing, true), "acme", noon + 1s);
  ASSERT_TRUE(desk.write(roles_).has_value());
  EXPECT_FALSE(desk.owes());
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].raised_at, noon);
  EXPECT_EQ(stored()[0].tenant_id, "acme");
  EXPECT_EQ(stored()[0].detail, "It happened.");

  desk.change(change(AlertKind::dns_failing, false), "acme", noon + 2s);
  desk.change(change(AlertKind::dns_failing, false), "acme", noon + 3s);
  ASSERT_TRUE(desk.write(roles_).has_value());
  EXPECT_EQ(stored()[0].resolved_at, noon + 2s);
}

TEST_F(AlertDeskTest, AlertsOfDifferentTenantsAreDifferentAlerts) {
  AlertDesk desk = make_desk();
  for (const char* tenant : {"acme", "other"}) {
    const AlertSubject subject{AlertKind::dead_letters_waiting, std::nullopt, tenant};
    desk.change({.subject = subject, .active = true, .detail = "Many."}, tenant, noon);
  }
  desk.change({.subject = {AlertKind::dead_letters_waiting, std::nullopt, "acme"},
               .active = false,
               .detail = {}},
              "acme", noon + 1s);
  ASSERT_TRUE(desk.write(roles_).has_value());
  ASSERT_EQ(stored().size(), 2u);
  EXPECT_EQ(stored()[0].tenant_id, "acme");
  EXPECT_EQ(stored()[0].resolved_at, noon + 1s);
  EXPECT_EQ(stored()[1].tenant_id, "other");
  EXPECT_EQ(stored()[1].resolved_at, std::nullopt);
}

TEST_F(AlertDeskTest, MetricsCountWhatIsActive) {
  const auto active = [this](int count) {
    return metrics_->text().find("postrider_alerts_active{kind=\"dns_failing\"} " +
                                 std::to_string(count) + "\n") != std::string::npos;
  };
  AlertDesk first = make_desk();
  first.change(change(AlertKind::dns_failing, true), "acme", noon);
  first.change(change(AlertKind::dns_failing, true), "acme", noon);
  EXPECT_TRUE(active(1));
  first.change(change(AlertKind::dns_failing, false), "acme", noon);
  EXPECT_TRUE(active(0));
  first.change(change(AlertKind::dns_failing, true), "acme", noon);
  ASSERT_TRUE(first.write(roles_).has_value());
  metrics_ = make_metrics();  // A restart.
  const AlertDesk second = make_desk(*roles_.alerts->load_active());
  EXPECT_TRUE(active(1));
}

TEST_F(AlertDeskTest, WhatIsOverBeforeItWasWrittenIsKeptAsHistory) {
  AlertDesk desk = make_desk();
  desk.change(change(AlertKind::circuit_opened, true), "acme", noon);
  desk.change(change(AlertKind::circuit_opened, false), "acme", noon + 1s);
  desk.change(change(AlertKind::circuit_opened, true), "acme", noon + 2s);
  ASSERT_TRUE(desk.write(roles_).has_value());
  ASSERT_EQ(stored().size(), 2u);
  EXPECT_EQ(stored()[0].resolved_at, noon + 1s);
  EXPECT_EQ(stored()[1].resolved_at, std::nullopt);
}

TEST_F(AlertDeskTest, AFailedWriteIsOwedUntilOneSucceeds) {
  AlertDesk desk = make_desk();
  desk.change(change(AlertKind::store_failing, true), std::nullopt, noon);
  const auto works = std::exchange(roles_.atomically, [](const auto&) -> Result<void> {
    return fail(Errc::unavailable, "No disk.");
  });
  EXPECT_FALSE(desk.write(roles_).has_value());
  EXPECT_TRUE(desk.owes());
  roles_.atomically = works;
  ASSERT_TRUE(desk.write(roles_).has_value());
  EXPECT_EQ(stored().size(), 1u);
}

TEST_F(AlertDeskTest, ActiveOnesOfBeforeAreResolvedAndNotRaisedAgain) {
  const Alert before{.id = AlertId{{9}},
                     .subject = {AlertKind::secret_old, webhook},
                     .tenant_id = "acme",
                     .raised_at = noon,
                     .resolved_at = std::nullopt,
                     .detail = "Old."};
  ASSERT_TRUE(roles_.alerts->raise(before).has_value());
  AlertDesk desk = make_desk({before});
  desk.change(change(AlertKind::secret_old, true), "acme", noon + 1s);
  EXPECT_FALSE(desk.owes());
  desk.forget(webhook, noon - 1s);  // A clock that went back.
  ASSERT_TRUE(desk.write(roles_).has_value());
  EXPECT_EQ(stored()[0].resolved_at, noon);
}

TEST_F(AlertDeskTest, ARemovedWebhookTakesAllItsAlertsAlong) {
  AlertDesk desk = make_desk();
  desk.change(change(AlertKind::secret_old, true), "acme", noon);
  desk.change(change(AlertKind::dead_letters, true), "acme", noon);
  desk.change({.subject = {AlertKind::store_failing, std::nullopt}, .detail = "Disk."},
              std::nullopt, noon);
  desk.forget(webhook, noon + 1s);
  ASSERT_TRUE(desk.write(roles_).has_value());
  EXPECT_EQ(roles_.alerts->load_active()->size(), 1u);
}

}  // namespace
}  // namespace postrider
