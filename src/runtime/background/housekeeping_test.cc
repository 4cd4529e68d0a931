#include "runtime/background/housekeeping.h"

#include <algorithm>
#include <optional>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include "core/policy/secret_rotation.h"

#include "tests/support/store_harness.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;
using test::ManualClock;

constexpr std::chrono::hours day{24};

/// A catalog that reseals two webhooks per step, and fails when told to.
class FaultyCatalog final : public Catalog {
 public:
  struct State {
    std::vector<std::optional<WebhookId>> steps;  // Where each began.
    std::uint32_t webhooks = 5;
    std::optional<std::size_t> failing_step;
    int cancel_failures = 0;  // The number of calls of cancel_waiting that fail.
  };

  FaultyCatalog(std::unique_ptr<Catalog> real, State& state)
      : real_(std::move(real)), state_(state) {}

  Result<ResealStep> reseal_webhooks(std::optional<WebhookId> after, std::uint32_t) override {
    state_.steps.push_back(after);
    if (state_.failing_step == state_.steps.size()) {
      return fail(Errc::invalid, "There is no such key.");
    }
    const std::uint32_t begin = after ? after->bytes[15] : 0;
    const std::uint32_t end = std::min(begin + 2, state_.webhooks);
    ResealStep step{.resealed = end - begin, .next = std::nullopt};
    if (end < state_.webhooks) {
      step.next.emplace();
      step.next->bytes[15] = static_cast<std::uint8_t>(end);
    }
    return step;
  }

  Result<std::vector<Webhook>> load_webhooks() override { return real_->load_webhooks(); }
  Result<std::optional<Webhook>> find_webhook(WebhookId id) override {
    return real_->find_webhook(id);
  }
  Result<void> put_webhook(const Webhook& webhook) override { return real_->put_webhook(webhook); }
  Result<void> remove_webhook(WebhookId id, WallTime now) override {
    return real_->remove_webhook(id, now);
  }
  Result<TenantCounts> cancel_waiting(WebhookId id, WallTime now, std::uint32_t limit) override {
    if (state_.cancel_failures > 0) {
      --state_.cancel_failures;
      return fail(Errc::unavailable, "The catalog is made to fail.");
    }
    return real_->cancel_waiting(id, now, limit);
  }
  Result<void> mark_rescheduling(WebhookId id) override { return real_->mark_rescheduling(id); }
  Result<std::vector<WebhookId>> load_rescheduling() override { return real_->load_rescheduling(); }
  Result<std::map<WebhookId, CircuitRecord>> load_circuits() override {
    return real_->load_circuits();
  }

 private:
  std::unique_ptr<Catalog> real_;
  State& state_;
};

/// One webhook of the tenant "acme". Its secret was set when the clock started.
class HousekeepingTest : public testing::Test, public WebhookObserver {
 protected:
  HousekeepingTest() {
    webhook_.id.bytes[15] = 1;
    webhook_.tenant_id = "acme";
    webhook_.secret = Secret<std::string>{"new"};
    webhook_.secret_set_at = ManualClock::start;
  }
  ~HousekeepingTest() override {
    if (harness_) {
      harness_->stop();
    }
  }

  // WebhookObserver
  void webhook_stored(const Webhook& webhook) override { housekeeping_->webhook_stored(webhook); }
  void webhook_removed(WebhookId id) override { housekeeping_->webhook_removed(id); }
  void deliveries_cancelled(const TenantCounts&) override {}

  void start(std::vector<Alert> active = {}) {
    memory_.webhooks.emplace(webhook_.id, webhook_);
    harness_.emplace(memory_, [this](Store& store) {
      store.catalog = std::make_unique<FaultyCatalog>(std::move(store.catalog), catalog_);
    });
    changes_.emplace(Directory{{std::make_shared<const Webhook>(webhook_)}}, AccessSnapshot{},
                     ChannelDirectory{});
    cleanup_.emplace(harness_->clock, *harness_->thread, *harness_->metrics);
    rescheduler_.emplace(harness_->clock, *harness_->thread, *changes_);
    AlertRecorder recorder{
        std::move(active),
        {.make_id = [this] { return AlertId{ids_.next({})}; }, .metrics = harness_->metrics.get()}};
    housekeeping_.emplace(std::move(recorder), Housekeeping::Parts{.clock = &harness_->clock,
                                                                   .store = &*harness_->thread,
                                                                   .changes = &*changes_,
                                                                   .cleanup = &*cleanup_,
                                                                   .rescheduler = &*rescheduler_,
                                                                   .reload_keys = reload_keys_});
    changes_->observe(*this);
    harness_->on_streak = [this](std::uint32_t failures) {
      housekeeping_->store_failed(failures);
      if (failures == store_failures_alarming) {
        harness_->loop.post([this] { alarmed_ = true; });
      }
    };
    harness_->start();
    housekeeping_->start(harness_->loop);
    harness_->settle();
  }

  void edit_webhook(const WebhookEdit& edit) {
    harness_->on_store([&](Store& store, RepliesByShard& replies) {
      const AuditEntry entry{.at = harness_->clock.now().wall};
      return changes_->edit_webhook({store, replies, entry}, webhook_.id, edit, std::nullopt)
          .map([](const WebhookRef&) {});
    });
    harness_->settle();
  }
  void remove_webhook() {
    harness_->on_store([&](Store& store, RepliesByShard& replies) {
      return changes_->remove_webhook({store, replies, AuditEntry{}}, webhook_.id);
    });
    harness_->settle();
  }

  AlertChange about_webhook(AlertKind kind, bool active = true) const {
    return {.subject = {kind, webhook_.id}, .active = active, .detail = "It happened."};
  }
  /// The stored alerts of a kind.
  std::vector<Alert> stored(AlertKind kind) {
    const std::lock_guard lock{memory_.mutex};
    std::vector<Alert> alerts;
    for (const auto& [sequence, alert] : memory_.alerts) {
      if (alert.subject.kind == kind) {
        alerts.push_back(alert);
      }
    }
    return alerts;
  }
  bool is_active(AlertKind kind) {
    return std::ranges::any_of(stored(kind),
                               [](const Alert& alert) { return !alert.resolved_at.has_value(); });
  }
  std::size_t old_secrets_stored() {
    const std::lock_guard lock{memory_.mutex};
    return memory_.webhooks.at(webhook_.id).old_secrets.size();
  }
  Result<std::uint64_t> reseal() {
    std::optional<Result<std::uint64_t>> answer;
    boost::asio::io_context io;
    boost::asio::co_spawn(io, housekeeping_->reseal(0),
                          [&](const std::exception_ptr&, Result<std::uint64_t> result) {
                            answer = std::move(result);
                          });
    io.poll();  // Until it waits for the store.
    EXPECT_TRUE(harness_->loop.run_until([&] {
      io.restart();
      io.poll();
      return answer.has_value();
    }));
    return *answer;
  }

  Webhook webhook_;
  MemoryStore memory_;
  UuidGenerator ids_{1};
  bool alarmed_ = false;  // The store failed five times in a row.
  FaultyCatalog::State catalog_;
  std::function<Result<void>()> reload_keys_;
  std::optional<test::StoreHarness> harness_;
  std::optional<AdminChanges> changes_;
  std::optional<RemovedWebhookCleanup> cleanup_;
  std::optional<RetryRescheduler> rescheduler_;
  std::optional<Housekeeping> housekeeping_;
};

// ---------------------------------------------------------------- secrets

TEST_F(HousekeepingTest, RemovesAnOldSecretOnceItHasEnded) {
  webhook_.old_secrets = {{Secret<std::string>{"long"}, ManualClock::start + 1h},
                          {Secret<std::string>{"short"}, ManualClock::start + 7s}};
  start();
  harness_->advance(5s);
  EXPECT_EQ(old_secrets_stored(), 2u);
  (void)harness_->take_inputs();
  harness_->advance(5s);
  EXPECT_EQ(old_secrets_stored(), 1u);
  const WebhookRef known = changes_->directory()->find(webhook_.id);
  ASSERT_EQ(known->old_secrets.size(), 1u);
  EXPECT_EQ(known->old_secrets.front().ends_at, ManualClock::start + 1h);
  const std::vector<Input> inputs = harness_->take_inputs();
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(std::get<WebhookChanged>(inputs.front()).webhook, known) << "the lane signs without it";
  ASSERT_EQ(memory_.audit.size(), 1u);
  EXPECT_EQ(memory_.audit.front().entry.action, "webhook.secret.end");
}

TEST_F(HousekeepingTest, RaisesAnAlertForAnOldSecretUntilItIsReplaced) {
  start();
  harness_->clock.advance(secret_age_max - 1s);
  harness_->advance(0s);
  EXPECT_FALSE(is_active(AlertKind::secret_old));
  harness_->advance(6s);
  ASSERT_TRUE(is_active(AlertKind::secret_old));
  EXPECT_EQ(stored(AlertKind::secret_old).front().tenant_id, "acme");
  harness_->advance(1min);
  EXPECT_EQ(stored(AlertKind::secret_old).size(), 1u) << "once, not on every tick";
  edit_webhook([this](const Webhook& current) -> Result<Webhook> {
    Webhook edited = current;
    edited.secret_set_at = harness_->clock.now().wall;
    return edited;
  });
  EXPECT_FALSE(is_active(AlertKind::secret_old)) << "without waiting for the next tick";
}

// ---------------------------------------------------------------- what is forgotten

TEST_F(HousekeepingTest, ForgetsIdempotencyKeysThatHaveExpired) {
  memory_.request_keys[{"caller", "short"}] = {{"d", "s"}, ManualClock::start + 3s};
  memory_.request_keys[{"caller", "long"}] = {{"d", "s"}, ManualClock::start + 1h};
  start();
  EXPECT_EQ(memory_.request_keys.size(), 2u);
  harness_->advance(5s);
  ASSERT_EQ(memory_.request_keys.size(), 1u);
  EXPECT_EQ(memory_.request_keys.begin()->first.second, "long");
}

TEST_F(HousekeepingTest, ForgetsAlertsNinetyDaysAfterTheirEnd) {
  const auto alert = [](std::uint8_t number, std::optional<WallTime> resolved_at) {
    Alert made{.id = {}, .subject = {AlertKind::dns_failing, std::nullopt}, .tenant_id = "acme"};
    made.id.bytes[15] = number;
    made.raised_at = ManualClock::start - 100 * day;
    made.resolved_at = resolved_at;
    return made;
  };
  memory_.alerts = {{1, alert(1, ManualClock::start - 90 * day - 1ms)},
                    {2, alert(2, ManualClock::start - 89 * day)},
                    {3, alert(3, std::nullopt)}};
  start();
  EXPECT_EQ(memory_.alerts.size(), 2u);
  EXPECT_FALSE(memory_.alerts.contains(1));
}

TEST_F(HousekeepingTest, ForgetsNotificationsAfterNinetyDaysOrWithTheirChannel) {
  NotificationChannel channel;
  channel.id.bytes[15] = 1;
  memory_.channels = {{channel.id, channel}};
  Notification old{.id = {}, .channel_id = channel.id, .state = NotificationState::sent};
  old.made_at = ManualClock::start - 90 * day - 1ms;
  Notification recent = old;
  recent.made_at = ManualClock::start - 89 * day;
  Notification waiting = old;
  waiting.state = NotificationState::waiting;
  Notification orphan = recent;
  orphan.channel_id.bytes[15] = 2;
  memory_.notifications = {{1, old}, {2, recent}, {3, waiting}, {4, orphan}};
  start();
  EXPECT_EQ(memory_.notifications.size(), 2u);
  EXPECT_TRUE(memory_.notifications.contains(2));
  EXPECT_TRUE(memory_.notifications.contains(3));
}

// ---------------------------------------------------------------- alerts

TEST_F(HousekeepingTest, StoresAlertsWithTheTenantOfTheirWebhook) {
  start();
  housekeeping_->on_alert_change(about_webhook(AlertKind::dns_failing));
  housekeeping_->on_alert_change(
      {.subject = {AlertKind::dead_letters_waiting, std::nullopt, "other"}, .detail = "Many."});
  housekeeping_->on_alert_change(
      {.subject = {AlertKind::queue_deep, std::nullopt}, .detail = "Deep."});
  harness_->settle();
  EXPECT_EQ(stored(AlertKind::dns_failing).at(0).tenant_id, "acme");
  EXPECT_EQ(stored(AlertKind::dead_letters_waiting).at(0).tenant_id, "other");
  EXPECT_EQ(stored(AlertKind::queue_deep).at(0).tenant_id, std::nullopt);
  harness_->clock.advance(1s);
  housekeeping_->on_alert_change(about_webhook(AlertKind::dns_failing, false));
  harness_->settle();
  EXPECT_EQ(stored(AlertKind::dns_failing).at(0).resolved_at, ManualClock::start + 1s);
}

TEST_F(HousekeepingTest, IgnoresAnAlertThatIsOutdatedWhenItArrives) {
  start();
  housekeeping_->on_alert_change(about_webhook(AlertKind::webhook_disabled));
  harness_->settle();
  EXPECT_TRUE(stored(AlertKind::webhook_disabled).empty()) << "it is active again";
  remove_webhook();
  housekeeping_->on_alert_change(about_webhook(AlertKind::dns_failing));
  harness_->settle();
  EXPECT_TRUE(stored(AlertKind::dns_failing).empty()) << "it is removed";
}

TEST_F(HousekeepingTest, ResolvesTheAlertOfADisabledWebhookWhenItIsEnabled) {
  webhook_.active = false;
  start();
  housekeeping_->on_alert_change(about_webhook(AlertKind::webhook_disabled));
  harness_->settle();
  ASSERT_TRUE(is_active(AlertKind::webhook_disabled));
  edit_webhook([](const Webhook& current) -> Result<Webhook> {
    Webhook edited = current;
    edited.description = "Still off.";
    return edited;
  });
  EXPECT_TRUE(is_active(AlertKind::webhook_disabled));
  edit_webhook([](const Webhook& current) -> Result<Webhook> {
    Webhook edited = current;
    switch_on(edited);
    return edited;
  });
  EXPECT_FALSE(is_active(AlertKind::webhook_disabled));
}

TEST_F(HousekeepingTest, ResolvesTheAlertItTakesOverOfAWebhookThatWasEnabledMeanwhile) {
  start();
  Alert of_earlier_server;
  of_earlier_server.id = AlertId{{9}};
  of_earlier_server.subject = {AlertKind::webhook_disabled, webhook_.id};
  of_earlier_server.raised_at = ManualClock::start;
  {
    const std::lock_guard lock{memory_.mutex};
    memory_.alerts.emplace(1, of_earlier_server);
  }
  ASSERT_TRUE(is_active(AlertKind::webhook_disabled));
  harness_->on_store([&](Store&, RepliesByShard&) {
    housekeeping_->take_over(of_earlier_server);
    return Result<void>{};
  });
  harness_->settle();
  EXPECT_FALSE(is_active(AlertKind::webhook_disabled));
}

TEST_F(HousekeepingTest, ResolvesAllAlertsOfARemovedWebhook) {
  start();
  housekeeping_->on_alert_change(about_webhook(AlertKind::dns_failing));
  housekeeping_->on_alert_change(about_webhook(AlertKind::circuit_opened));
  harness_->settle();
  remove_webhook();
  EXPECT_FALSE(is_active(AlertKind::dns_failing));
  EXPECT_FALSE(is_active(AlertKind::circuit_opened));
}

TEST_F(HousekeepingTest, KeepsAlertsUntilTheStoreWorksAgain) {  // P12
  start();
  harness_->store_fails = true;
  housekeeping_->on_alert_change(about_webhook(AlertKind::dns_failing));
  harness_->settle();
  EXPECT_TRUE(stored(AlertKind::dns_failing).empty());
  harness_->advance(5s);
  EXPECT_TRUE(stored(AlertKind::dns_failing).empty());
  harness_->store_fails = false;
  harness_->advance(5s);
  ASSERT_TRUE(is_active(AlertKind::dns_failing));
  EXPECT_EQ(stored(AlertKind::dns_failing).at(0).raised_at, ManualClock::start);
}

TEST_F(HousekeepingTest, RaisesAnAlertAfterFiveStoreFailuresInARow) {
  start();
  const auto report = [this](std::uint32_t in_row) {
    harness_->on_store([&](Store&, RepliesByShard&) -> Result<void> {
      housekeeping_->store_failed(in_row);
      return {};
    });
    harness_->settle();
  };
  report(4);
  harness_->advance(5s);
  EXPECT_TRUE(stored(AlertKind::store_failing).empty());
  report(5);
  report(6);
  harness_->advance(5s);
  ASSERT_EQ(stored(AlertKind::store_failing).size(), 1u);
  EXPECT_TRUE(is_active(AlertKind::store_failing));
  EXPECT_NE(stored(AlertKind::store_failing).front().detail.find("5 times"), std::string::npos);
  report(0);
  EXPECT_FALSE(is_active(AlertKind::store_failing)) << "without waiting for the next tick";
}

TEST_F(HousekeepingTest, StoresTheAlertAboutTheStoreOnceTheStoreWorksAgain) {
  start();
  harness_->store_fails = true;
  housekeeping_->on_alert_change(about_webhook(AlertKind::dns_failing));
  // The store thread tries to reopen the store every millisecond.
  ASSERT_TRUE(harness_->loop.run_until([this] { return alarmed_; }));
  EXPECT_TRUE(stored(AlertKind::store_failing).empty());
  harness_->store_fails = false;
  harness_->advance(10s);
  ASSERT_EQ(stored(AlertKind::store_failing).size(), 1u);
  EXPECT_FALSE(is_active(AlertKind::store_failing));
}

TEST_F(HousekeepingTest, DoesNotRaiseAnAlertAgainThatWasActiveBeforeARestart) {
  const Alert before{.id = AlertId{{9}},
                     .subject = {AlertKind::dns_failing, webhook_.id},
                     .tenant_id = "acme",
                     .raised_at = ManualClock::start - 1h,
                     .resolved_at = std::nullopt,
                     .detail = "It happened."};
  memory_.alerts = {{1, before}};
  start({before});
  housekeeping_->on_alert_change(about_webhook(AlertKind::dns_failing));
  harness_->settle();
  EXPECT_EQ(stored(AlertKind::dns_failing).size(), 1u);
}

// ---------------------------------------------------------------- what each tick resumes

TEST_F(HousekeepingTest, ResumesCleanupAndReschedulingAfterAStoreFailure) {
  WebhookId removed{};
  removed.bytes[15] = 9;
  Publish publish;
  for (std::uint8_t number = 1; number <= 2; ++number) {
    Delivery delivery;
    delivery.id.bytes[15] = number;
    delivery.webhook_id = number == 1 ? removed : webhook_.id;
    delivery.state = DeliveryState::retrying;
    delivery.attempt_count = delivery.budget_used = 1;
    delivery.due = ManualClock::start + 100h;
    publish.deliveries.push_back(delivery);
  }
  ASSERT_TRUE(make_memory_ledger(memory_)->commit({.publishes = {publish}}).has_value());
  webhook_.retry.delay_base = 1s;
  webhook_.retry.jitter = {};
  start();
  // The first step of both fails: only the next tick tries again.
  catalog_.cancel_failures = 1;
  harness_->on_store([&](Store&, RepliesByShard&) -> Result<void> {
    cleanup_->add(removed);
    rescheduler_->add(webhook_.id);
    harness_->store_fails = true;
    return {};
  });
  harness_->settle();
  harness_->store_fails = false;
  harness_->settle();
  EXPECT_TRUE(memory_.waiting.contains(removed));
  EXPECT_TRUE(harness_->take_inputs().empty());
  harness_->advance(5s);
  EXPECT_FALSE(memory_.waiting.contains(removed));
  const std::vector<Input> inputs = harness_->take_inputs();
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(std::get<Rescheduled>(inputs.front()).webhook_id, webhook_.id);
}

// ---------------------------------------------------------------- resealing

TEST_F(HousekeepingTest, ReadsTheKeysOnceAndResealsEveryWebhookInSteps) {
  int reloads = 0;
  reload_keys_ = [&reloads]() -> Result<void> {
    ++reloads;
    return {};
  };
  start();
  const Result<std::uint64_t> resealed = reseal();
  ASSERT_TRUE(resealed.has_value());
  EXPECT_EQ(*resealed, 5u);
  EXPECT_EQ(reloads, 1);
  ASSERT_EQ(catalog_.steps.size(), 3u);
  EXPECT_EQ(catalog_.steps[0], std::nullopt);
  EXPECT_EQ(catalog_.steps[2]->bytes[15], 4u);
}

TEST_F(HousekeepingTest, ResealsNothingIfTheKeysCannotBeRead) {
  reload_keys_ = []() -> Result<void> { return fail(Errc::invalid, "The key is too short."); };
  start();
  EXPECT_EQ(reseal().error().message, "The key is too short.");
  EXPECT_TRUE(catalog_.steps.empty());
}

TEST_F(HousekeepingTest, ReportsAStepOfResealingThatFails) {
  catalog_.failing_step = 2;
  start();
  EXPECT_EQ(reseal().error().code, Errc::invalid);
  EXPECT_EQ(catalog_.steps.size(), 2u);
}

TEST(ResealAll, GoesThroughAllWebhooks) {
  MemoryStore memory;
  FaultyCatalog::State state;
  FaultyCatalog catalog{make_memory_catalog(memory), state};
  EXPECT_TRUE(reseal_all(catalog).has_value());
  EXPECT_EQ(state.steps.size(), 3u);
  state.failing_step = 4;
  EXPECT_FALSE(reseal_all(catalog).has_value());
}

}  // namespace
}  // namespace postrider
