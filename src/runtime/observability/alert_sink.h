// Where alerts go that something has noticed: raised, or resolved again.
#pragma once

#include "engine/alerts/alert_rules.h"

namespace postrider {

class AlertSink {
 public:
  virtual ~AlertSink() = default;
  /// Any thread.
  virtual void on_alert_change(const AlertChange& change) = 0;

 protected:
  AlertSink() = default;
  AlertSink(const AlertSink&) = default;
  AlertSink& operator=(const AlertSink&) = default;
};

}  // namespace postrider
