// What the server does by itself every few seconds, away from the delivery path: sweeps secrets
// that have ended, watches the age of secrets, keeps the alerts, and forgets requests' keys.
//
// Everything but what has a comment of its own belongs to the store thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/model/alert.h"
#include "engine/alerts/alert_rules.h"
#include "engine/intake/directory.h"
#include "ports/clock.h"

#include "runtime/admin/service.h"
#include "runtime/observability/alert_recorder.h"
#include "runtime/store/store_thread.h"

namespace postrider {

constexpr Millis housekeeping_period{5'000};

class Housekeeping {
 public:
  /// All outlive it.
  struct Parts {
    const Clock* clock = nullptr;
    StoreThread* store = nullptr;
    std::function<std::shared_ptr<const Directory>()> directory;
    /// Stores a changed webhook and tells its lane.
    std::function<Result<void>(Store&, RepliesByShard&, Webhook)> store_webhook;
    std::function<void()> tick_store;           // On the store thread.
    std::function<Result<void>()> reload_keys;  // May be empty. On the store thread.
  };

  Housekeeping(AlertRecorder recorder, Parts parts);

  /// From now on ticks, at once and then again and again, on this loop. The loop is stopped before
  /// this is destroyed, and outlives it.
  void start(boost::asio::io_context& io);

  /// Any thread.
  void on_alert_change(const AlertChange& change);

  /// Reads the keys again and seals every secret with the current one, a few at a time, and says of
  /// how many webhooks. `origin`: the io thread that asks.
  Awaitable<Result<std::uint64_t>> reseal(std::size_t origin);

  /// So many failures of the store in a row; 0: it works again.
  void store_failed(std::uint32_t in_row);
  void webhook_stored(const Webhook& webhook);
  void webhook_removed(WebhookId id);

 private:
  void tick();
  Awaitable<Result<ResealStep>> reseal_some(std::optional<WebhookId> after, std::size_t origin);
  void change(const AlertChange& change);
  void write_soon();
  [[nodiscard]] Result<void> sweep(Store& store, RepliesByShard& replies);
  void look_at_secret(const Webhook& webhook, WallTime now);

  AlertRecorder recorder_;
  Parts parts_;
  std::optional<boost::asio::steady_timer> timer_;
};

/// At start: what was stored before there was a key, or under an older one, is sealed with the
/// current one.
[[nodiscard]] Result<void> reseal_all(Catalog& catalog);

}  // namespace postrider
