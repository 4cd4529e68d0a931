// When the server as a whole, or a tenant as a whole, is worth a person's attention: too few
// attempts succeed, too many deliveries wait, too many requests are under way, too many dead
// letters of one tenant.
//
// Pure: asked every now and then with what is counted anyway. One thread. All times are steady wall
// times.
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

/// What is counted anyway.
struct ServerFacts {
  std::uint64_t attempts = 0;  // Ever ended.
  std::uint64_t successes = 0;
  std::int64_t waiting = 0;  // Deliveries, in memory and in the store.
  std::uint32_t in_flight = 0;
  std::uint32_t in_flight_max = 1;
  std::map<TenantId, std::int64_t> dead_letters;  // At least of those who have too many.
};

/// Levels go up and down: an alert about one is over when it has been low for so long.
constexpr Millis level_calm{5'000};

class ServerAlertRules {
 public:
  explicit ServerAlertRules(AlertLimits limits = {}) : limits_(limits) {}

  [[nodiscard]] std::vector<AlertChange> look(const ServerFacts& facts, WallTime now);

  /// From now on. Shares over another window are counted anew.
  void change(const AlertLimits& limits);
  [[nodiscard]] const AlertLimits& limits() const { return limits_; }

  /// This one was active when the server started.
  void restore(const AlertSubject& subject);

 private:
  /// One of the server's own troubles.
  struct Trouble {
    AlertKind kind;
    bool raised = false;
    std::optional<WallTime> high_at = std::nullopt;  // Of a level: when it was last too high.
  };

  [[nodiscard]] bool success_low(const ServerFacts& facts, WallTime now);
  static bool level_high(Trouble& level, bool high_now, WallTime now);
  void look_at_tenants(const ServerFacts& facts, std::vector<AlertChange>& changes);

  AlertLimits limits_;
  ShareWindow::Count counted_;  // What has been noted of all attempts.
  ShareWindow successes_;
  Trouble success_{AlertKind::success_low};
  Trouble queue_{AlertKind::queue_deep};
  Trouble pool_{AlertKind::pool_busy};
  std::set<TenantId> tenants_;  // For whom there is an alert.
};

}  // namespace postrider
