// Decides when alerts about the server or a tenant are raised and resolved: too few attempts
// succeed, too many deliveries wait, too many requests are in flight, too many dead letters of one
// tenant.
//
// Pure. Single-threaded. All times are steady wall times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/event.h"
#include "engine/alerts/alert_limits.h"
#include "engine/alerts/alert_rules.h"
#include "engine/alerts/share_window.h"

namespace postrider {

/// The counters and gauges that the rules use.
struct ServerFacts {
  std::uint64_t attempts = 0;  // Finished since startup.
  std::uint64_t successes = 0;
  std::int64_t waiting = 0;  // Deliveries, in memory and in the store.
  std::uint32_t in_flight = 0;
  std::uint32_t in_flight_max = 1;
  std::map<TenantId, std::int64_t> dead_letters;  // At least the tenants with too many.
};

/// An alert about a gauge is resolved after the gauge has been low for this long.
constexpr Millis level_calm{5'000};

class ServerAlertRules {
 public:
  explicit ServerAlertRules(AlertLimits limits = {}) : limits_(limits) {}

  /// Call periodically.
  [[nodiscard]] std::vector<AlertChange> evaluate(const ServerFacts& facts, WallTime now);

  /// Replaces the limits. Shares are counted anew if their window changes.
  void change(const AlertLimits& limits);
  [[nodiscard]] const AlertLimits& limits() const { return limits_; }

  /// At startup: the alert was active when the server stopped.
  void restore(const AlertSubject& subject);

 private:
  struct AlertState {
    AlertKind kind;
    bool raised = false;
    std::optional<WallTime> high_at = std::nullopt;  // When the gauge was last too high.
  };

  [[nodiscard]] bool success_low(const ServerFacts& facts, WallTime now);
  static bool level_high(AlertState& level, bool high_now, WallTime now);
  void evaluate_tenants(const ServerFacts& facts, std::vector<AlertChange>& changes);

  AlertLimits limits_;
  ShareWindow::Count counted_;  // Attempts and successes already added to successes_.
  ShareWindow successes_;
  AlertState success_{AlertKind::success_low};
  AlertState queue_{AlertKind::queue_deep};
  AlertState pool_{AlertKind::pool_busy};
  std::set<TenantId> tenants_;  // Tenants with an active alert.
};

}  // namespace postrider
