// Decides when alerts about a webhook are raised and resolved: too many dead letters in an hour, a
// host name that does not resolve, too many failures for too long, a circuit that stays open.
// Stores and sends nothing.
//
// Pure. One instance per io thread, for the webhooks of that thread. All times are steady wall
// times.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
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
  bool active = true;  // True: raised. False: resolved.
  std::string detail;  // Only if raised.

  bool operator==(const AlertChange&) const = default;
};

/// A settled delivery, as far as the alert rules need it.
struct AttemptSummary {
  WebhookId webhook_id;
  bool failed = false;
  bool dns_failed = false;
  bool dead = false;      // The delivery became a dead letter.
  bool attempted = true;  // False: settled without an attempt.
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

  /// At startup: the alert was active when the server stopped.
  void restore(const AlertSubject& subject);
  void forget(WebhookId webhook_id) { webhooks_.erase(webhook_id); }

 private:
  struct WebhookState {
    std::vector<WallTime> dead_letters_at;  // Oldest first; may include times outside the window.
    ShareWindow dns;
    ShareWindow failures;
    std::optional<WallTime> failing_since;  // Since when the share of failures is too large.
    std::optional<WallTime> open_since;     // Since when the circuit is not closed.
    bool is_open = false;                   // With open_since: open, otherwise half open.
    std::array<bool, alert_kind_count> raised{};
  };
  struct Evaluation {
    WebhookId webhook_id;
    WebhookState& state;
    std::vector<AlertChange>& changes;
  };

  void add_dead_letter(WebhookState& state, WallTime now) const;
  [[nodiscard]] bool too_many_dead_letters(const WebhookState& state, WallTime now) const;
  [[nodiscard]] bool dns_failing(const WebhookState& state, WallTime now) const;
  [[nodiscard]] bool failing(const WebhookState& state, WallTime now) const;
  [[nodiscard]] bool stays_open(const WebhookState& state, WallTime now) const;
  [[nodiscard]] bool too_many_failures(const WebhookState& state, WallTime now) const;
  [[nodiscard]] bool is_unneeded(const WebhookState& state, WallTime now) const;
  void set_alert(const Evaluation& evaluation, AlertKind kind, bool active) const;
  [[nodiscard]] std::string detail_of(AlertKind kind) const;

  AlertLimits limits_;
  std::unordered_map<WebhookId, WebhookState> webhooks_;  // Webhooks with recent activity.
};

}  // namespace postrider
