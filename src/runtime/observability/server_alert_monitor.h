// Looks every second whether the server, a tenant or a webhook has become worth an alert, or has
// calmed down. The io thread's on whose loop it runs, but for what has a comment of its own.
#pragma once

#include <functional>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "engine/alerts/server_alert_rules.h"
#include "ports/clock.h"

#include "runtime/observability/metrics.h"

namespace postrider {

constexpr Millis watch_period{1'000};

class ServerAlertMonitor {
 public:
  /// All outlive it.
  struct Parts {
    const Clock* clock = nullptr;
    Metrics* metrics = nullptr;
    std::function<void()> look_at_webhooks;
    std::function<void(const AlertChange& change)> alert;  // Any thread.
  };

  ServerAlertMonitor(AlertLimits limits, Parts parts);

  /// Before start(): an alert that was active when the server ended.
  void restore(const AlertSubject& subject) { rules_.restore(subject); }

  /// From now on looks again and again, on this loop. The loop is stopped before this is destroyed,
  /// and outlives it.
  void start(boost::asio::io_context& io);

  /// Any thread, after start().
  void change(const AlertLimits& limits);

 private:
  void look();

  ServerAlertRules rules_;
  Parts parts_;
  boost::asio::io_context* io_ = nullptr;
  std::optional<boost::asio::steady_timer> timer_;
};

}  // namespace postrider
