#include "runtime/background/housekeeping.h"

#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/policy/secret_rotation.h"

#include "runtime/store/await_callback.h"

namespace postrider {
namespace {

// How long resolved alerts are kept, and how many one tick removes.
constexpr Millis alert_life = std::chrono::hours{24 * 90};
constexpr std::uint32_t alerts_removed_max = 100;
// More than clients send in one period, few enough for one turn of the store.
constexpr std::uint32_t request_keys_removed_max = 1'000;

// Short enough that no commit waits long for a step.
constexpr std::uint32_t reseal_step = 100;

}  // namespace

Housekeeping::Housekeeping(AlertRecorder recorder, Parts parts)
    : recorder_(std::move(recorder)), parts_(std::move(parts)) {}

void Housekeeping::on_alert_change(const AlertChange& change) {
  changes_queued_.fetch_add(1);
  parts_.store->submit(StoreTask{[this, change](Store& store, RepliesByShard&) -> Result<void> {
    record(change);
    // Changes that queue up are written together.
    return changes_queued_.fetch_sub(1) == 1 ? recorder_.write(store) : Result<void>{};
  }});
}

void Housekeeping::start(EventLoop& loop) {
  timer_ = loop.make_timer();
  loop.post([this] { tick(); });
}

Awaitable<Result<ResealStep>> Housekeeping::reseal_some(std::optional<WebhookId> after,
                                                        std::size_t origin) {
  auto begin = [this, after, origin](const std::function<void(Result<ResealStep>)>& resume) {
    auto run = [this, after, origin, resume](Store& store, RepliesByShard& replies) {
      const bool first = !after && parts_.reload_keys;
      const Result<void> reloaded = first ? parts_.reload_keys() : Result<void>{};
      const Result<ResealStep> step =
          reloaded.and_then([&] { return store.catalog->reseal_webhooks(after, reseal_step); });
      replies[origin].completions.push_back([resume, step] { resume(step); });
      return step.map([](const ResealStep&) {});
    };
    parts_.store->submit(StoreTask{std::move(run)});
  };
  co_return co_await await_callback<Result<ResealStep>>(begin);
}

Awaitable<Result<std::uint64_t>> Housekeeping::reseal(std::size_t origin) {
  std::uint64_t resealed = 0;
  std::optional<WebhookId> after;
  do {
    auto pending = reseal_some(after, origin);
    const Result<ResealStep> step = co_await std::move(pending);
    if (!step) {
      co_return tl::make_unexpected(step.error());
    }
    resealed += step->resealed;
    after = step->next;
  } while (after);
  co_return resealed;
}

Result<void> reseal_all(Catalog& catalog) {
  ResealStep step;
  std::uint64_t resealed = 0;
  do {
    POSTRIDER_TRY(step, catalog.reseal_webhooks(step.next, reseal_step));
    resealed += step.resealed;
  } while (step.next);
  if (resealed > 0) {
    spdlog::info("secrets.sealed webhooks={}", resealed);
  }
  return {};
}

void Housekeeping::tick() {
  timer_->start(housekeeping_period, [this] { tick(); });
  parts_.store->submit(StoreTask{
      [this](Store& store, RepliesByShard& replies) { return tick_on_store(store, replies); }});
}

Result<void> Housekeeping::tick_on_store(Store& store, RepliesByShard& replies) {
  parts_.cleanup->resume();
  parts_.rescheduler->resume();
  POSTRIDER_CHECK(sweep_secrets(store, replies));
  POSTRIDER_CHECK(recorder_.write(store));
  const WallTime now = parts_.clock->now().wall;
  POSTRIDER_CHECK(store.alerts->remove_resolved(now - alert_life, alerts_removed_max));
  POSTRIDER_CHECK(store.notifications->remove_old(now - alert_life, alerts_removed_max));
  return store.request_keys->remove_expired(now, request_keys_removed_max).map([](std::uint32_t) {
  });
}

void Housekeeping::record(const AlertChange& change) {
  const WallTime now = parts_.clock->now().wall;
  if (!change.subject.webhook_id) {
    recorder_.change(change, change.subject.tenant_id, now);
    return;
  }
  if (!works(*change.subject.webhook_id)) {
    return;  // Another server records its alerts.
  }
  const WebhookRef webhook = parts_.changes->directory()->find(*change.subject.webhook_id);
  // The webhook may have been deleted or enabled again since the alert was noticed.
  const bool outdated = !webhook || (change.subject.kind == AlertKind::webhook_disabled &&
                                     change.active && webhook->active);
  if (webhook && !outdated) {
    recorder_.change(change, *webhook, now);
  } else if (!change.active) {
    recorder_.change(change, std::nullopt, now);
  }
}

void Housekeeping::store_failed(std::uint32_t in_row) {
  if (in_row != 0 && in_row != store_failures_alarming) {
    return;
  }
  record({.subject = {AlertKind::store_failing, std::nullopt},
          .active = in_row > 0,
          .detail = fmt::format("The store has failed {} times in a row; nothing is accepted "
                                "until it can write again.",
                                in_row),
          .measure = AlertMeasure{.count = static_cast<double>(in_row),
                                  .limit = store_failures_alarming}});
  if (in_row == 0) {
    write_alerts_soon();
  }
}

void Housekeeping::webhook_stored(const Webhook& webhook) {
  if (webhook.active) {
    record({.subject = {AlertKind::webhook_disabled, webhook.id}, .active = false, .detail = {}});
  }
  check_secret_age(webhook, parts_.clock->now().wall);
  write_alerts_soon();
}

void Housekeeping::webhook_removed(WebhookId id) {
  recorder_.resolve_all(id, parts_.clock->now().wall);
  write_alerts_soon();
}

void Housekeeping::take_over(Alert alert) {
  const AlertSubject subject = alert.subject;
  recorder_.take_over(std::move(alert));
  if (subject.kind != AlertKind::webhook_disabled) {
    return;
  }
  const WebhookRef webhook = parts_.changes->directory()->find(*subject.webhook_id);
  if (webhook && webhook->active) {
    recorder_.change({.subject = subject, .active = false, .detail = {}}, *webhook,
                     parts_.clock->now().wall);
    write_alerts_soon();
  }
}

void Housekeeping::write_alerts_soon() {
  if (recorder_.has_unwritten()) {
    parts_.store->submit(
        StoreTask{[this](Store& store, RepliesByShard&) { return recorder_.write(store); }});
  }
}

void Housekeeping::check_secret_age(const Webhook& webhook, WallTime now) {
  if (!works(webhook.id)) {
    return;
  }
  const AlertSubject subject{AlertKind::secret_old, webhook.id};
  if (!secret_is_old(webhook, now)) {
    recorder_.change({.subject = subject, .active = false, .detail = {}}, std::nullopt, now);
    return;
  }
  const auto days = std::chrono::floor<std::chrono::days>(now - webhook.secret_set_at).count();
  constexpr auto days_max = std::chrono::floor<std::chrono::days>(secret_age_max).count();
  recorder_.change({.subject = subject,
                    .active = true,
                    .detail = fmt::format("The secret was set at {}, {} days ago. Rotate it every "
                                          "{} days.",
                                          to_rfc3339(webhook.secret_set_at), days, days_max),
                    .measure = AlertMeasure{.count = static_cast<double>(days),
                                            .limit = static_cast<double>(days_max),
                                            .unit = AlertUnit::days}},
                   webhook, now);
}

Result<void> Housekeeping::sweep_secrets(Store& store, RepliesByShard& replies) {
  const WallTime now = parts_.clock->now().wall;
  const std::shared_ptr<const Directory> directory = parts_.changes->directory();
  for (const auto& [id, webhook] : directory->all()) {
    check_secret_age(*webhook, now);
    if (has_ended_secrets(*webhook, now) && works(id)) {
      POSTRIDER_CHECK(sweep_secrets(id, store, replies));
    }
  }
  return {};
}

Result<void> Housekeeping::sweep_secrets(WebhookId id, Store& store, RepliesByShard& replies) {
  const auto change = [&]() -> Result<void> {
    const WallTime now = parts_.clock->now().wall;
    const WebhookRef webhook = parts_.changes->directory()->find(id);
    if (!webhook || !has_ended_secrets(*webhook, now)) {
      return {};
    }
    Webhook swept = *webhook;
    swept.old_secrets = live_secrets(swept, now);
    POSTRIDER_CHECK(parts_.changes->sweep_secrets({store, replies}, std::move(swept), now));
    spdlog::info("webhook.old_secret_ended webhook={}", id.to_string());
    return {};
  };
  return parts_.make_change ? parts_.make_change(store, replies, change) : change();
}

}  // namespace postrider
