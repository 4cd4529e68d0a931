// A delivery in the memory of its lane.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/time.h"
#include "core/model/delivery.h"
#include "engine/shard/allowance.h"
#include "engine/shard/origins.h"

namespace postrider {

/// `unsettled`: the attempt has ended and the store has not confirmed the settlement yet.
enum class EntryStage : std::uint8_t { waiting, in_flight, unsettled };

/// A user revived the delivery while it was in flight or unsettled.
struct Revival {
  WallTime due;
  Priority priority = Priority::normal;
  Trigger trigger = Trigger::manual;
  std::uint32_t revivals = 0;  // The new Delivery::revivals.

  bool operator==(const Revival&) const = default;
};

struct Entry {
  Delivery delivery;
  WallTime ready_at;  // The due time, or later if an attempt was abandoned.
  EntryStage stage = EntryStage::waiting;
  std::uint32_t schedule = 0;  // The lane's schedule number when the last attempt ended.
  HostIndex host = no_host;    // In flight: whose slot is taken. The webhook may have moved since.
  bool cancelled = false;      // Final in the store: must not be attempted again.
  bool slow = false;           // In flight: for longer than `slow_after`.
  bool unproven = false;       // In flight: the slot was taken by a webhook that was not proven.
  MonoTime started{};          // In flight: since when.
  OriginIndex origin = 0;      // In flight: to which origin.
  std::optional<Revival> revival;
};

/// An automatic retry. First attempts and attempts that a user requested are not.
[[nodiscard]] inline bool is_retry(const Delivery& delivery) {
  return delivery.attempt_count > 0 && delivery.trigger == Trigger::scheduled;
}

}  // namespace postrider
