// Decides when alerts about a webhook are raised and resolved: a permanent failure, too many dead
// letters in an hour, a host name that does not resolve, too many failures for too long, a circuit
// that stays open. Stores and sends nothing.
//
// What happened before the start, or on another node, is not known. An alert from then therefore
// stays active until there is enough evidence since, or until its window has passed.
//
// Pure. One instance per io thread, for the webhooks of that thread. All times are steady wall
// times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/time.h"
#include "core/model/alert.h"
#include "core/model/attempt.h"
#include "core/policy/breaker.h"
#include "engine/alerts/alert_limits.h"
#include "engine/alerts/share_window.h"

namespace postrider {

struct AlertChange {
  AlertSubject subject;
  bool active = true;  // True: raised, or counted on. False: resolved.
  std::string detail;  // Only if active. Does not name the webhook.
  std::optional<AlertMeasure> measure = std::nullopt;  // Only if active.

  bool operator==(const AlertChange&) const = default;
};

/// A settled delivery, as far as the alert rules need it.
struct AttemptSummary {
  WebhookId webhook_id;
  bool failed = false;
  bool dns_failed = false;
  bool dead = false;      // The delivery became a dead letter.
  bool attempted = true;  // False: settled without an attempt.
  DeliveryId delivery_id = {};
  std::string_view dead_reason = {};  // Only if dead.
  std::uint32_t attempts = 0;         // Of the delivery. Only if dead.
  std::string last_error = {};        // See short_failure. Only if dead; empty: not attempted.
};

class AlertRules {
 public:
  explicit AlertRules(AlertLimits limits = {}) : limits_(limits) {}

  [[nodiscard]] std::vector<AlertChange> on_attempt(const AttemptSummary& attempt, WallTime now);

  /// A half-open circuit counts as not closed: one outage is one opening, however many probes fail.
  void on_circuit(WebhookId webhook_id, CircuitState state, WallTime since);

  /// Raises and resolves what depends on the passing of time. Call periodically.
  [[nodiscard]] std::vector<AlertChange> evaluate(WallTime now);

  /// Replaces the limits. Shares are counted anew if their window changes.
  void change(const AlertLimits& limits);

  /// The alert was active when the server stopped, or when the webhook came from another node.
  void restore(const Alert& alert);
  void forget(WebhookId webhook_id) { webhooks_.erase(webhook_id); }

 private:
  /// The permanent failures that one alert counts.
  struct PermanentFailures {
    WallTime since;             // Of the first.
    std::uint64_t count = 0;    // Of all.
    std::uint64_t counted = 0;  // Those that the alert has been told of.
    std::string last;           // A sentence about the last.
  };
  struct WebhookState {
    std::vector<WallTime> dead_letters_at;  // Oldest first; may include times outside the window.
    ShareWindow dns;
    ShareWindow failures;
    std::optional<WallTime> failing_since;  // Since when the share of failures is too large.
    std::optional<WallTime> open_since;     // Since when the circuit is not closed.
    bool is_open = false;                   // With open_since: open, otherwise half open.
    std::optional<WallTime> known_since;    // The first time that was passed in.
    std::optional<PermanentFailures> permanent;
    std::array<bool, alert_kind_count> raised{};
    std::array<bool, alert_kind_count> restored{};  // Raised before the start.
  };
  struct Evaluation {
    WebhookId webhook_id;
    WebhookState& state;
    WallTime now;
    std::vector<AlertChange>& changes;
  };

  void add_dead_letter(WebhookState& state, WallTime now) const;
  [[nodiscard]] bool too_many_dead_letters(const WebhookState& state, WallTime now) const;
  [[nodiscard]] bool dns_failing(const WebhookState& state, WallTime now) const;
  [[nodiscard]] bool failing(const WebhookState& state, WallTime now) const;
  [[nodiscard]] bool stays_open(const WebhookState& state, WallTime now) const;
  [[nodiscard]] bool too_many_failures(const WebhookState& state, WallTime now) const;
  [[nodiscard]] bool is_unneeded(const WebhookState& state, WallTime now) const;
  [[nodiscard]] bool is_undecided(const Evaluation& evaluation, AlertKind kind) const;
  void set_alert(const Evaluation& evaluation, AlertKind kind, bool active) const;
  void describe(const Evaluation& evaluation, AlertChange& change) const;
  void add_permanent_failure(const Evaluation& evaluation, const AttemptSummary& attempt) const;
  void check_permanent_failures(const Evaluation& evaluation) const;
  static void count_on(const Evaluation& evaluation);

  AlertLimits limits_;
  std::unordered_map<WebhookId, WebhookState> webhooks_;  // Webhooks with recent activity.
};

}  // namespace postrider
