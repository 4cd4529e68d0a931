// Turns messages of a source into stored events.
#pragma once

#include <vector>

#include "ports/event_source.h"

namespace postrider {

/// One thread, which is not an io thread.
class SourceIntake {
 public:
  virtual ~SourceIntake() = default;

  /// Blocks until the events are on disk (P1). The outcomes are in the order of the messages. May
  /// defer messages whose events are nevertheless on disk: their keys make them duplicates later.
  [[nodiscard]] virtual std::vector<RecordOutcome> publish(
      const std::vector<SourceRecord>& records) = 0;

 protected:
  SourceIntake() = default;
  SourceIntake(const SourceIntake&) = default;
  SourceIntake& operator=(const SourceIntake&) = default;
};

}  // namespace postrider
