#include "runtime/observability/server_alert_monitor.h"

#include <utility>

#include <boost/asio/post.hpp>

#include "core/base/assert.h"

namespace postrider {

ServerAlertMonitor::ServerAlertMonitor(AlertLimits limits, Parts parts)
    : rules_(limits), parts_(std::move(parts)) {}

void ServerAlertMonitor::start(boost::asio::io_context& io) {
  io_ = &io;
  timer_.emplace(io);
  boost::asio::post(io, [this] { look(); });
}

void ServerAlertMonitor::change(const AlertLimits& limits) {
  POSTRIDER_ASSERT(io_ != nullptr);
  boost::asio::post(*io_, [this, limits] { rules_.change(limits); });
}

void ServerAlertMonitor::look() {
  parts_.look_at_webhooks();
  const ServerFacts facts = parts_.metrics->facts(rules_.limits().tenant_dead_letters_max);
  for (const AlertChange& change : rules_.look(facts, parts_.clock->now().steady)) {
    parts_.alert(change);
  }
  timer_->expires_after(watch_period);
  timer_->async_wait([this](const boost::system::error_code& error) {
    if (!error) {
      look();
    }
  });
}

}  // namespace postrider
