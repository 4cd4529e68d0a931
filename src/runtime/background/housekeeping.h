// Periodic work that is not delivery: removes ended secrets, watches the age of secrets, stores
// alerts, and forgets expired idempotency keys, old alerts and their notifications.
//
// Store thread only unless noted.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/model/alert.h"
#include "ports/clock.h"

#include "runtime/admin/admin_changes.h"
#include "runtime/admin/service.h"
#include "runtime/background/event_loop.h"
#include "runtime/background/removed_webhook_cleanup.h"
#include "runtime/background/retry_rescheduler.h"
#include "runtime/observability/alert_recorder.h"
#include "runtime/observability/alert_sink.h"
#include "runtime/store/store_thread.h"

namespace postrider {

constexpr Millis housekeeping_period{5'000};

class Housekeeping final : public AlertSink {
 public:
  /// All of them must outlive this object.
  struct Parts {
    const Clock* clock = nullptr;
    StoreThread* store = nullptr;
    AdminChanges* changes = nullptr;
    RemovedWebhookCleanup* cleanup = nullptr;        // Resumed on every tick.
    RetryRescheduler* rescheduler = nullptr;         // Resumed on every tick.
    std::function<Result<void>()> reload_keys = {};  // Reads the sealing keys again. May be empty.
    /// Whether the webhook is this server's. Empty: all are.
    std::function<bool(WebhookId)> works = {};
    /// Runs a change of webhooks on the store thread; see CatalogFollower::change. Empty: at once.
    std::function<Result<void>(Store&, RepliesByShard&, const std::function<Result<void>()>&)>
        make_change = {};
  };

  Housekeeping(AlertRecorder recorder, Parts parts);

  /// Ticks at once and then periodically. Call once, on any thread. `loop` must outlive this
  /// object, and must have stopped before this object is destroyed.
  void start(EventLoop& loop);

  /// Any thread.
  void on_alert_change(const AlertChange& change) override;

  /// Reads the keys again, seals every secret with the current one, a few webhooks at a time, and
  /// returns the number of webhooks resealed. Call on the io thread `origin`.
  Awaitable<Result<std::uint64_t>> reseal(std::size_t origin);

  /// `in_row`: how many times in a row the store has failed; 0 when it works again.
  void store_failed(std::uint32_t in_row);
  void webhook_stored(const Webhook& webhook);
  void webhook_removed(WebhookId id);
  /// See AlertRecorder, as for the next. Resolves the alert about a disabled webhook that was
  /// enabled while no server recorded its alerts.
  void take_over(Alert alert);
  void hand_over(const std::function<bool(WebhookId)>& is_handed_over) {
    recorder_.hand_over(is_handed_over);
  }
  void hand_over(AlertKind kind) { recorder_.hand_over(kind); }

 private:
  void tick();  // Loop thread.
  [[nodiscard]] Result<void> tick_on_store(Store& store, RepliesByShard& replies);
  Awaitable<Result<ResealStep>> reseal_some(std::optional<WebhookId> after, std::size_t origin);
  void record(const AlertChange& change);
  void write_alerts_soon();
  [[nodiscard]] bool works(WebhookId id) const { return !parts_.works || parts_.works(id); }
  [[nodiscard]] Result<void> sweep_secrets(Store& store, RepliesByShard& replies);
  [[nodiscard]] Result<void> sweep_secrets(WebhookId id, Store& store, RepliesByShard& replies);
  void check_secret_age(const Webhook& webhook, WallTime now);

  AlertRecorder recorder_;
  std::atomic<std::size_t> changes_queued_{0};  // Calls of on_alert_change not yet recorded.
  Parts parts_;
  std::unique_ptr<EventLoop::Timer> timer_;
};

/// Seals with the current key what is stored plain or under an older key. Call at start, before the
/// store thread runs.
[[nodiscard]] Result<void> reseal_all(Catalog& catalog);

}  // namespace postrider
