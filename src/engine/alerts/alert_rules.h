// When a webhook is worth a person's attention: too many dead letters in an hour, a name that does
// not resolve, too many failures for too long, a circuit that stays open. Says what begins and what
// is over; keeps and sends nothing.
//
// Pure: fed with what happened and when. One per io thread, for the webhooks that thread owns. All
// times are steady wall times.
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

/// What becomes of an alert.
struct AlertChange {
  AlertSubject subject;
  bool active = true;  // Raised; or else resolved.
  std::string detail;  // Only when raised.

  bool operator==(const AlertChange&) const = default;
};

/// One attempt that ended.
struct AttemptNote {
  WebhookId webhook_id;
  bool failed = false;
  bool dns_failed = false;
  bool dead = false;      // The delivery was given up.
  bool attempted = true;  // False: without an attempt.
};

class AlertRules {
 public:
  explicit AlertRules(AlertLimits limits = {}) : limits_(limits) {}

  /// What is worth telling at once.
  [[nodiscard]] std::vector<AlertChange> attempted(const AttemptNote& note, WallTime now);

  /// Half open is not closed: one outage is one opening, however often it is probed.
  void circuit_is(WebhookId webhook_id, CircuitState state, WallTime since);

  /// What time has made worth telling, and what has calmed down. To be asked now and then.
  [[nodiscard]] std::vector<AlertChange> look(WallTime now);

  /// From now on. Shares over another window are counted anew.
  void change(const AlertLimits& limits);

  /// This one was active when the server started.
  void restore(const AlertSubject& subject);
  void forget(WebhookId webhook_id) { webhooks_.erase(webhook_id); }

 private:
  struct Facts {
    std::vector<WallTime> deaths;  // Oldest first; some may be too old to count.
    ShareWindow dns;
    ShareWindow failures;
    std::optional<WallTime> failing_since;  // The share of failures has been too large.
    std::optional<WallTime> open_since;     // The circuit has not been closed.
    bool is_open = false;                   // Or half open, when open_since is set.
    std::array<bool, alert_kind_count> raised{};
  };
  /// Where to write down that something begins or is over.
  struct WebhookFacts {
    WebhookId webhook_id;
    Facts& facts;
    std::vector<AlertChange>& changes;
  };

  void note_death(Facts& facts, WallTime now) const;
  [[nodiscard]] bool many_deaths(const Facts& facts, WallTime now) const;
  [[nodiscard]] bool dns_failing(const Facts& facts, WallTime now) const;
  [[nodiscard]] bool failing(const Facts& facts, WallTime now) const;
  [[nodiscard]] bool stays_open(const Facts& facts, WallTime now) const;
  [[nodiscard]] bool share_too_large(const Facts& facts, WallTime now) const;
  [[nodiscard]] bool nothing_to_watch(const Facts& facts, WallTime now) const;
  void judge(const WebhookFacts& webhook_facts, AlertKind kind, bool is_so) const;
  [[nodiscard]] std::string detail_of(AlertKind kind) const;

  AlertLimits limits_;
  std::unordered_map<WebhookId, Facts> webhooks_;  // Only those with something to watch.
};

}  // namespace postrider
