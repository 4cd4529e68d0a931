// Tells a subject that keeps changing at doubling intervals. Pure. All times are steady wall times.
#pragma once

#include <chrono>
#include <map>

#include "core/base/time.h"
#include "core/model/alert.h"

namespace postrider {

class FlapDamper {
 public:
  static constexpr Millis pause_max = std::chrono::hours{1};

  /// When an alert of the subject that is raised now may be told.
  [[nodiscard]] WallTime not_before(const AlertSubject& subject, WallTime now) const;

  /// The raising of an alert has been told. `window` is the first pause, and how long an alert
  /// waits before it is told.
  void told(const AlertSubject& subject, WallTime now, Millis window);

  [[nodiscard]] bool is_idle(WallTime now) const;

 private:
  struct Subject {
    WallTime told_at;
    Millis pause;
  };

  std::map<AlertSubject, Subject> subjects_;
};

}  // namespace postrider
