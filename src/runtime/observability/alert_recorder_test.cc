#include "runtime/observability/alert_recorder.h"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
const WebhookId webhook{{1}};

class CountingAlertWriter final : public AlertWriter {
 public:
  explicit CountingAlertWriter(std::size_t& raised) : raised_(raised) {}

  Result<std::vector<Alert>> load_active() override { return std::vector<Alert>{}; }
  Result<void> raise(const Alert&) override {
    ++raised_;
    return {};
  }
  Result<void> update(const Alert&) override { return {}; }
  Result<void> resolve(AlertId, WallTime) override { return {}; }
  Result<std::uint32_t> remove_resolved(WallTime, std::uint32_t) override { return 0; }

 private:
  std::size_t& raised_;
};

class AlertRecorderTest : public testing::Test {
 protected:
  AlertRecorder make_recorder(std::vector<Alert> active = {}) {
    return AlertRecorder{
        std::move(active),
        {.make_id = [this] { return AlertId{ids_.next(noon)}; }, .metrics = metrics_.get()}};
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
  UuidGenerator ids_{1};
};

TEST_F(AlertRecorderTest, RaisesOnceAndResolvesOnce) {
  AlertRecorder recorder = make_recorder();
  EXPECT_FALSE(recorder.has_unwritten());
  recorder.change(change(AlertKind::dns_failing, false), "acme", noon);
  EXPECT_FALSE(recorder.has_unwritten());
  recorder.change(change(AlertKind::dns_failing, true), "acme", noon);
  recorder.change(change(AlertKind::dns_failing, true), "acme", noon + 1s);
  ASSERT_TRUE(recorder.write(roles_).has_value());
  EXPECT_FALSE(recorder.has_unwritten());
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].raised_at, noon);
  EXPECT_EQ(stored()[0].tenant_id, "acme");
  EXPECT_EQ(stored()[0].detail, "It happened.");

  recorder.change(change(AlertKind::dns_failing, false), "acme", noon + 2s);
  recorder.change(change(AlertKind::dns_failing, false), "acme", noon + 3s);
  ASSERT_TRUE(recorder.write(roles_).has_value());
  EXPECT_FALSE(recorder.has_unwritten());
  EXPECT_EQ(stored()[0].resolved_at, noon + 2s);
}

TEST_F(AlertRecorderTest, DoesNotResolveWhatAnotherServerContinuesWith) {
  AlertRecorder recorder = make_recorder();
  recorder.change(change(AlertKind::dns_failing, true), "acme", noon);
  recorder.change(change(AlertKind::circuit_opened, true), "acme", noon);
  recorder.hand_over(AlertKind::dns_failing);
  recorder.change(change(AlertKind::dns_failing, false), "acme", noon + 1s);
  recorder.change(change(AlertKind::circuit_opened, false), "acme", noon + 1s);
  ASSERT_TRUE(recorder.write(roles_).has_value());
  ASSERT_EQ(stored().size(), 2u);
  EXPECT_FALSE(stored()[0].resolved_at);
  EXPECT_TRUE(stored()[1].resolved_at);
}

TEST_F(AlertRecorderTest, NamesTheWebhookWithoutTheQueryOfItsUrl) {
  AlertRecorder recorder = make_recorder();
  Webhook named;
  named.id = webhook;
  named.tenant_id = "acme";
  named.name = "Orders";
  named.url = "https://shop.example/hook?token=hunter2";
  AlertChange raised = change(AlertKind::dns_failing, true);
  raised.measure = AlertMeasure{.count = 90, .limit = 80, .unit = AlertUnit::percent};
  recorder.change(raised, named, noon);
  ASSERT_TRUE(recorder.write(roles_).has_value());
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].tenant_id, "acme");
  EXPECT_EQ(stored()[0].webhook_name, "Orders");
  EXPECT_EQ(stored()[0].webhook_url, "https://shop.example/hook");
  EXPECT_EQ(stored()[0].measure, raised.measure);
  EXPECT_EQ(stored()[0].detail, "Webhook " + webhook.to_string() +
                                    " \"Orders\" at https://shop.example/hook: It happened.");
}

TEST_F(AlertRecorderTest, CountsOnInTheSameAlert) {
  AlertRecorder recorder = make_recorder();
  const auto count = [&](double number) {
    AlertChange counted = change(AlertKind::permanent_failure, true);
    counted.detail = std::to_string(static_cast<int>(number));
    counted.measure = AlertMeasure{.count = number, .limit = 0};
    recorder.change(counted, "acme", noon);
  };
  count(1);
  count(2);
  ASSERT_TRUE(recorder.write(roles_).has_value());
  count(3);
  count(4);
  EXPECT_TRUE(recorder.has_unwritten());
  ASSERT_TRUE(recorder.write(roles_).has_value());
  EXPECT_FALSE(recorder.has_unwritten());
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].measure->count, 4);
  EXPECT_EQ(stored()[0].detail, "4");
  count(5);
  recorder.change(change(AlertKind::permanent_failure, false), "acme", noon + 1s);
  ASSERT_TRUE(recorder.write(roles_).has_value());
  EXPECT_EQ(stored()[0].measure->count, 5);
  EXPECT_EQ(stored()[0].resolved_at, noon + 1s);
}

TEST_F(AlertRecorderTest, KeepsAlertsOfDifferentTenantsApart) {
  AlertRecorder recorder = make_recorder();
  for (const char* tenant : {"acme", "other"}) {
    const AlertSubject subject{AlertKind::dead_letters_waiting, std::nullopt, tenant};
    recorder.change({.subject = subject, .active = true, .detail = "Many."}, tenant, noon);
  }
  recorder.change({.subject = {AlertKind::dead_letters_waiting, std::nullopt, "acme"},
                   .active = false,
                   .detail = {}},
                  "acme", noon + 1s);
  ASSERT_TRUE(recorder.write(roles_).has_value());
  ASSERT_EQ(stored().size(), 2u);
  EXPECT_EQ(stored()[0].tenant_id, "acme");
  EXPECT_EQ(stored()[0].resolved_at, noon + 1s);
  EXPECT_EQ(stored()[1].tenant_id, "other");
  EXPECT_EQ(stored()[1].resolved_at, std::nullopt);
}

TEST_F(AlertRecorderTest, CountsActiveAlerts) {
  const auto active = [this](int count) {
    return metrics_->text().find("postrider_alerts_active{kind=\"dns_failing\"} " +
                                 std::to_string(count) + "\n") != std::string::npos;
  };
  AlertRecorder first = make_recorder();
  first.change(change(AlertKind::dns_failing, true), "acme", noon);
  first.change(change(AlertKind::dns_failing, true), "acme", noon);
  EXPECT_TRUE(active(1));
  first.change(change(AlertKind::dns_failing, false), "acme", noon);
  EXPECT_TRUE(active(0));
  first.change(change(AlertKind::dns_failing, true), "acme", noon);
  ASSERT_TRUE(first.write(roles_).has_value());
  metrics_ = make_metrics();  // A restart.
  const AlertRecorder second = make_recorder(*roles_.alerts->load_active());
  EXPECT_TRUE(active(1));
}

TEST_F(AlertRecorderTest, WritesAlertsThatWereResolvedBeforeTheFirstWrite) {
  AlertRecorder recorder = make_recorder();
  recorder.change(change(AlertKind::circuit_opened, true), "acme", noon);
  recorder.change(change(AlertKind::circuit_opened, false), "acme", noon + 1s);
  recorder.change(change(AlertKind::circuit_opened, true), "acme", noon + 2s);
  ASSERT_TRUE(recorder.write(roles_).has_value());
  ASSERT_EQ(stored().size(), 2u);
  EXPECT_EQ(stored()[0].resolved_at, noon + 1s);
  EXPECT_EQ(stored()[1].resolved_at, std::nullopt);
}

TEST_F(AlertRecorderTest, KeepsUnwrittenChangesUntilAWriteSucceeds) {
  AlertRecorder recorder = make_recorder();
  recorder.change(change(AlertKind::store_failing, true), std::nullopt, noon);
  const auto works = std::exchange(roles_.atomically, [](const auto&) -> Result<void> {
    return fail(Errc::unavailable, "No disk.");
  });
  EXPECT_FALSE(recorder.write(roles_).has_value());
  EXPECT_TRUE(recorder.has_unwritten());
  roles_.atomically = works;
  ASSERT_TRUE(recorder.write(roles_).has_value());
  EXPECT_EQ(stored().size(), 1u);
}

TEST_F(AlertRecorderTest, ResolvesAndDoesNotRaiseAgainAlertsFromBeforeARestart) {
  const Alert before{.id = AlertId{{9}},
                     .subject = {AlertKind::secret_old, webhook},
                     .tenant_id = "acme",
                     .raised_at = noon,
                     .resolved_at = std::nullopt,
                     .detail = "Old."};
  ASSERT_TRUE(roles_.alerts->raise(before).has_value());
  AlertRecorder recorder = make_recorder({before});
  recorder.change(change(AlertKind::secret_old, true), "acme", noon + 1s);
  EXPECT_FALSE(recorder.has_unwritten());
  recorder.resolve_all(webhook, noon - 1s);  // The clock was set back.
  ASSERT_TRUE(recorder.write(roles_).has_value());
  EXPECT_EQ(stored()[0].resolved_at, noon);
}

TEST_F(AlertRecorderTest, CountsAnAlertOnceUnlessTheWorkerCountsIt) {
  AlertRecorder recorder = make_recorder();
  for (const AlertKind kind :
       {AlertKind::dns_failing, AlertKind::circuit_opened, AlertKind::webhook_disabled}) {
    recorder.change(change(kind, true), "acme", noon);
    recorder.change(change(kind, true), "acme", noon);
  }
  const std::string text = metrics_->text();
  EXPECT_NE(text.find("postrider_alerts_total{kind=\"dns_failing\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("postrider_alerts_total{kind=\"circuit_opened\"} 0\n"), std::string::npos);
  EXPECT_NE(text.find("postrider_alerts_total{kind=\"webhook_disabled\"} 0\n"), std::string::npos);
}

TEST_F(AlertRecorderTest, BoundsTheUnwrittenChanges) {
  AlertRecorder recorder = make_recorder();
  constexpr std::size_t unwritten_max = 50'000;
  for (std::size_t i = 0; i <= unwritten_max; ++i) {
    const TenantId tenant_id = "tenant-" + std::to_string(i);
    // The recorder does not log alerts of this kind.
    recorder.change(
        {.subject = {AlertKind::circuit_opened, std::nullopt, tenant_id}, .detail = "Many."},
        tenant_id, noon);
  }
  std::size_t raised = 0;
  roles_.alerts = std::make_unique<CountingAlertWriter>(raised);
  ASSERT_TRUE(recorder.write(roles_).has_value());
  EXPECT_EQ(raised, unwritten_max);
  // One that did not fit may be raised later.
  const TenantId last = "tenant-" + std::to_string(unwritten_max);
  recorder.change({.subject = {AlertKind::circuit_opened, std::nullopt, last}, .detail = "Many."},
                  last, noon);
  EXPECT_TRUE(recorder.has_unwritten());
}

TEST_F(AlertRecorderTest, ResolvesAllAlertsOfARemovedWebhook) {
  AlertRecorder recorder = make_recorder();
  recorder.change(change(AlertKind::secret_old, true), "acme", noon);
  recorder.change(change(AlertKind::dead_letters, true), "acme", noon);
  recorder.change({.subject = {AlertKind::store_failing, std::nullopt}, .detail = "Disk."},
                  std::nullopt, noon);
  recorder.resolve_all(webhook, noon + 1s);
  ASSERT_TRUE(recorder.write(roles_).has_value());
  EXPECT_EQ(roles_.alerts->load_active()->size(), 1u);
}

TEST_F(AlertRecorderTest, TheCredentialInAUrlIsNotShown) {
  AlertRecorder recorder{{},
                         {.make_id = [this] { return AlertId{ids_.next(noon)}; },
                          .metrics = metrics_.get(),
                          .has_secret_path = [](WebhookId id) { return id == webhook; }}};
  Webhook chat;
  chat.id = webhook;
  chat.url = "https://chat.example.com/services/T1/B2/secret?x=y";
  recorder.change(change(AlertKind::dns_failing, true), chat, noon);
  ASSERT_TRUE(recorder.write(roles_));
  ASSERT_EQ(stored().size(), 1u);
  EXPECT_EQ(stored()[0].webhook_url, "https://chat.example.com/…");
  EXPECT_EQ(stored()[0].detail.find("secret"), std::string::npos);
}

TEST_F(AlertRecorderTest, NotificationsAreStoredTogetherWithTheirAlert) {
  std::vector<std::pair<AlertId, NotificationTransition>> told;
  AlertRecorder recorder{{},
                         {.make_id = [this] { return AlertId{ids_.next(noon)}; },
                          .metrics = metrics_.get(),
                          .notify =
                              [&](const Alert& alert, NotificationTransition transition) {
                                told.emplace_back(alert.id, transition);
                                Notification made;
                                made.id = NotificationId{ids_.next(noon)};
                                made.alert_id = alert.id;
                                made.transition = transition;
                                made.facts.resolved_at = alert.resolved_at;
                                return std::vector{made};
                              }}};
  recorder.change(change(AlertKind::dns_failing, true), "acme", noon);
  recorder.change(change(AlertKind::dns_failing, true), "acme", noon);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].second, NotificationTransition::raised);
  EXPECT_TRUE(store_.notifications.empty());
  const auto atomically = roles_.atomically;
  roles_.atomically = [](const std::function<Result<void>()>&) -> Result<void> {
    return fail(Errc::unavailable, "The disk is full.");
  };
  EXPECT_FALSE(recorder.write(roles_));
  EXPECT_TRUE(recorder.has_unwritten());
  roles_.atomically = atomically;
  ASSERT_TRUE(recorder.write(roles_));
  EXPECT_EQ(store_.notifications.size(), 1u);
  EXPECT_EQ(stored().size(), 1u);
  recorder.change(change(AlertKind::dns_failing, false), "acme", noon + 1s);
  ASSERT_TRUE(recorder.write(roles_));
  ASSERT_EQ(store_.notifications.size(), 2u);
  const Notification& resolved = store_.notifications.rbegin()->second;
  EXPECT_EQ(resolved.alert_id, told[0].first);
  EXPECT_EQ(resolved.transition, NotificationTransition::resolved);
  EXPECT_EQ(resolved.facts.resolved_at, noon + 1s);
}

}  // namespace
}  // namespace postrider
