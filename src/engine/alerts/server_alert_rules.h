// Decides when alerts about the server or a tenant are raised and resolved: too few attempts
// succeed, too many fail for too long, too many are slow, too many deliveries wait or become dead
// letters, too many requests are in flight, too many dead letters of one tenant, too few
// descriptors, ports or memory for attempts.
//
// An alert about a share that was active before the start stays active until there is enough
// evidence since, or until its window has passed.
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
#include "core/model/duration_histogram.h"
#include "core/model/event.h"
#include "engine/alerts/alert_limits.h"
#include "engine/alerts/alert_rules.h"
#include "engine/alerts/duration_window.h"
#include "engine/alerts/share_window.h"

namespace postrider {

/// The counters and gauges that the rules use.
struct ServerFacts {
  std::uint64_t attempts = 0;  // Finished since startup.
  std::uint64_t successes = 0;
  std::uint64_t ended = 0;             // Deliveries that succeeded or became dead letters.
  std::uint64_t new_dead_letters = 0;  // Included in `ended`.
  std::uint64_t postponed = 0;         // Attempts not made for want of a resource of the server.
  /// The attempts that took longer than AlertLimits::p99_max, since the last facts.
  DurationHistogram slow;
  std::int64_t waiting = 0;   // Deliveries, in memory and in the store.
  bool waiting_known = true;  // False until they have been counted after a start.
  std::uint32_t in_flight = 0;
  std::uint32_t in_flight_max = 1;
  std::map<TenantId, std::int64_t> dead_letters;  // At least the tenants with too many.
  bool dead_letters_known = true;  // False until they have been counted after a start.
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
  /// At startup: deliveries that ended at `at`, before the start. Oldest first.
  void recall(ShareWindow::Count ended, WallTime at);

 private:
  struct AlertState {
    AlertKind kind;
    bool raised = false;
    std::optional<WallTime> high_at = std::nullopt;  // When the gauge was last too high.
    bool restored = false;                           // Raised before the start.
  };
  struct Evaluation {
    WallTime now;
    std::vector<AlertChange>& changes;
  };
  /// What an alert says if it is raised.
  struct Finding {
    AlertMeasure measure;
    std::string detail;
  };

  void add(const ServerFacts& facts, WallTime now);
  void set_alert(const Evaluation& evaluation, AlertState& alert, std::optional<Finding> finding);
  void set_share_alert(const Evaluation& evaluation, AlertState& alert,
                       std::optional<Finding> finding);
  [[nodiscard]] bool is_undecided(AlertKind kind, WallTime now) const;
  void evaluate_attempts(const Evaluation& evaluation);
  void evaluate_dead_letters(const Evaluation& evaluation);
  void evaluate_levels(const Evaluation& evaluation, const ServerFacts& facts);
  void evaluate_queue(const Evaluation& evaluation, const ServerFacts& facts);
  void evaluate_resources(const Evaluation& evaluation, const ServerFacts& facts);
  [[nodiscard]] std::optional<Finding> find_failures(const ShareWindow::Count& count, WallTime now);
  [[nodiscard]] std::optional<Finding> find_slow(std::uint64_t attempts, WallTime now) const;
  static bool level_high(AlertState& level, bool high_now, WallTime now);
  void evaluate_tenants(const ServerFacts& facts, std::vector<AlertChange>& changes);

  AlertLimits limits_;
  ShareWindow::Count counted_;  // Attempts and successes already added to successes_.
  ShareWindow successes_;
  ShareWindow::Count ended_counted_;  // Deliveries and dead letters already added to ended_.
  ShareWindow ended_;                 // Deliveries that ended; the part became dead letters.
  DurationWindow slow_;
  std::optional<WallTime> failing_since_;  // Since when the share of failures is too large.
  std::optional<WallTime> started_;        // The first evaluation.
  AlertState success_{AlertKind::success_low};
  AlertState queue_{AlertKind::queue_deep};
  AlertState pool_{AlertKind::pool_busy};
  AlertState failures_{AlertKind::total_failures};
  AlertState p99_{AlertKind::p99_high};
  AlertState dead_letters_{AlertKind::total_dead_letters};
  AlertState dead_letter_share_{AlertKind::dead_letter_share};
  AlertState resources_{AlertKind::server_resources_short};
  std::uint64_t postponed_ = 0;  // ServerFacts::postponed at the last evaluation.
  std::set<TenantId> tenants_;   // Tenants with an active alert.
};

}  // namespace postrider
