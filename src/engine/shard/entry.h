// A delivery as its lane knows it: the record, and where it is right now.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/time.h"
#include "core/model/delivery.h"

namespace postrider {

/// A delivery is in one place at a time. `unsettled`: its attempt ended and the store has not
/// confirmed what came of it.
enum class Place : std::uint8_t { waiting, in_flight, unsettled };

/// A person asked for the delivery again while it was in flight or unsettled.
struct Revival {
  WallTime due;
  Priority priority = Priority::normal;
  Trigger trigger = Trigger::manual;
  std::uint32_t revivals = 0;  // The delivery's from now on.

  bool operator==(const Revival&) const = default;
};

struct Entry {
  Delivery delivery;
  WallTime ready_at;  // Its due time, or later when an attempt was abandoned.
  Place place = Place::waiting;
  std::uint32_t schedule = 0;  // Which of its lane's schedules it waits by, once an attempt ended.
  bool cancelled = false;      // Final in the store: memory must not try it again.
  std::optional<Revival> revival;
};

/// A try that follows a failure by itself. The first one, and one a person asked for, is not.
[[nodiscard]] inline bool is_retry(const Delivery& delivery) {
  return delivery.attempt_count > 0 && delivery.trigger == Trigger::scheduled;
}

/// The earlier of two times of which either may be missing.
template <class Time>
[[nodiscard]] std::optional<Time> earliest(std::optional<Time> a, std::optional<Time> b) {
  return a && b ? std::min(a, b) : (a ? a : b);
}

}  // namespace postrider
