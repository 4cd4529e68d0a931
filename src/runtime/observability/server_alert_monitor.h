// Checks every second whether an alert about the server, a tenant, a webhook or a source of events
// starts or ends.
//
// Loop thread only unless noted.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/alerts/server_alert_rules.h"
#include "engine/alerts/source_alert_rules.h"
#include "ports/clock.h"
#include "ports/stats.h"

#include "runtime/background/event_loop.h"
#include "runtime/observability/alert_sink.h"
#include "runtime/observability/metrics.h"

namespace postrider {

constexpr Millis alert_check_period{1'000};

class ServerAlertMonitor {
 public:
  /// All of them must outlive this object.
  struct Parts {
    const Clock* clock = nullptr;
    Metrics* metrics = nullptr;
    AlertSink* alerts = nullptr;
    std::function<std::vector<SourceFacts>()> sources;
    std::function<void()> check_webhooks;  // Makes the workers check their webhooks.
  };

  ServerAlertMonitor(AlertLimits limits, Parts parts);

  /// An alert that was active when the server ended. Call before start().
  void restore(const Alert& alert);
  /// Deliveries that ended before the start. Call before start(), oldest first.
  void recall(const std::vector<SpanTally>& tallies);

  /// Checks at once and then periodically. Call once, on any thread. `loop` must outlive this
  /// object, and must have stopped before this object is destroyed.
  void start(EventLoop& loop);

  /// Any thread, after start().
  void change(const AlertLimits& limits);

 private:
  void check();

  ServerAlertRules rules_;
  SourceAlertRules source_rules_;
  Parts parts_;
  EventLoop* loop_ = nullptr;
  std::unique_ptr<EventLoop::Timer> timer_;
};

}  // namespace postrider
