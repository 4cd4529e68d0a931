#include "runtime/observability/server_alert_monitor.h"

#include <utility>

#include "core/base/assert.h"

namespace postrider {

ServerAlertMonitor::ServerAlertMonitor(AlertLimits limits, Parts parts)
    : rules_(limits), parts_(std::move(parts)) {
  parts_.metrics->watch_slow_attempts(limits.p99_max);
}

void ServerAlertMonitor::restore(const Alert& alert) {
  rules_.restore(alert.subject);
  source_rules_.restore(alert);
}

void ServerAlertMonitor::recall(const std::vector<SpanTally>& tallies) {
  for (const auto& [start, tally] : tallies) {
    rules_.recall({.total = tally.succeeded + tally.dead_letters, .part = tally.dead_letters},
                  start);
  }
}

void ServerAlertMonitor::start(EventLoop& loop) {
  loop_ = &loop;
  timer_ = loop.make_timer();
  loop.post([this] { check(); });
}

void ServerAlertMonitor::change(const AlertLimits& limits) {
  POSTRIDER_ASSERT(loop_ != nullptr);
  loop_->post([this, limits] {
    if (limits.p99_max != rules_.limits().p99_max) {
      parts_.metrics->watch_slow_attempts(limits.p99_max);
    }
    rules_.change(limits);
  });
}

void ServerAlertMonitor::check() {
  parts_.check_webhooks();
  const ServerFacts facts = parts_.metrics->facts(rules_.limits().tenant_dead_letters_max);
  const WallTime now = parts_.clock->now().steady;
  for (const AlertChange& change : rules_.evaluate(facts, now)) {
    parts_.alerts->on_alert_change(change);
  }
  for (const AlertChange& change : source_rules_.evaluate(parts_.sources(), now)) {
    parts_.alerts->on_alert_change(change);
  }
  timer_->start(alert_check_period, [this] { check(); });
}

}  // namespace postrider
