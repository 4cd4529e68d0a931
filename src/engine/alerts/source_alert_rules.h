// Decides when alerts about sources of events are raised and resolved: a source cannot be
// connected, or messages are rejected. One alert per source and hour counts rejected messages.
//
// Pure. Single-threaded. All times are steady wall times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/alert.h"
#include "engine/alerts/alert_rules.h"

namespace postrider {

struct SourceFacts {
  std::string name;
  bool is_failing = false;
  bool is_working = false;  // Connected or on standby. Neither: not known, for example paused.
  std::uint32_t failed_connects = 0;
  std::string reason;          // Of the failure.
  std::uint64_t rejected = 0;  // Since the start.
  std::string last_rejection;
};

/// For how long one alert counts rejected messages.
constexpr Millis rejections_window{3'600'000};

class SourceAlertRules {
 public:
  /// `sources` are all that are configured. Call periodically.
  [[nodiscard]] std::vector<AlertChange> evaluate(const std::vector<SourceFacts>& sources,
                                                  WallTime now);

  /// At startup: the alert was active when the server stopped. Ignores alerts of other kinds.
  void restore(const Alert& alert);

 private:
  /// The rejected messages that one alert counts.
  struct Rejections {
    WallTime since;
    std::uint64_t count = 0;
  };
  struct SourceAlerts {
    bool failing = false;
    std::optional<Rejections> rejections;
    std::uint64_t rejected = 0;  // SourceFacts::rejected at the last evaluation.
  };
  struct Evaluation {
    SourceAlerts& alerts;
    WallTime now;
    std::vector<AlertChange>& changes;
  };

  static void evaluate_failure(const Evaluation& evaluation, const SourceFacts& facts);
  static void evaluate_rejections(const Evaluation& evaluation, const SourceFacts& facts);

  std::map<std::string, SourceAlerts> sources_;
};

}  // namespace postrider
