// The waiting deliveries of one lane that are in memory, and what is known about the others.
//
// The store has every delivery, so the window may forget any waiting delivery as long as it
// remembers that the store has more. There are two implementations: for lanes with and without an
// order. Owned by a Lane, which owns the entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/model/webhook.h"
#include "engine/shard/entry.h"
#include "engine/shard/fair_share.h"

namespace postrider {

/// How a delivery enters the window.
enum class Arrival : std::uint8_t {
  admitted,  // Just committed or revived. Deliveries before it may be only in the store.
  loaded,    // Read from the store, together with all deliveries before it.
  returned,  // It was in this window before, or in flight from it.
};

struct WindowBounds {
  WallTime now;                 // Steady wall time.
  std::uint32_t count_max = 0;  // Maximum size.
  Millis load_ahead{0};         // Without an order, deliveries due later than this are not held.
};

/// What the waiting deliveries allow, without the other gates of the lane.
struct WindowReadiness {
  ReadyPriorities ready;
  std::optional<WallTime> next_due;  // When more becomes ready.
  bool held_by_order = false;        // Some delivery waits for an earlier one.
};

class Window {
 public:
  virtual ~Window() = default;

  /// Adds a waiting delivery. Returns the delivery that was evicted to stay within bounds, which
  /// may be `entry` itself; null if there is none.
  [[nodiscard]] virtual Entry* insert(Entry& entry, Arrival arrival,
                                      const WindowBounds& bounds) = 0;
  /// Removes a waiting delivery for good.
  virtual void drop(Entry& entry) = 0;
  /// Removes a waiting delivery because its attempt starts …
  virtual void start(Entry& entry) = 0;
  /// … and the attempt has ended: settled or abandoned. If the delivery waits again, insert it
  /// before this call.
  virtual void end(const Entry& entry) = 0;
  /// Registers a delivery in flight or unsettled that was not started from this window.
  virtual void adopt(const Entry& entry) = 0;
  /// Evicts all waiting deliveries. Unordered.
  [[nodiscard]] virtual std::vector<Entry*> forget_all() = 0;

  [[nodiscard]] virtual WindowReadiness readiness(WallTime now) const = 0;
  /// The delivery to start next; null if none is ready.
  [[nodiscard]] virtual Entry* next(Priority priority, Candidates candidates,
                                    WallTime now) const = 0;
  [[nodiscard]] virtual std::size_t count() const = 0;

  /// The store has deliveries that this window may not have; the earliest is due at `due`.
  virtual void store_has_more(WallTime due) = 0;
  [[nodiscard]] virtual std::optional<WallTime> rest_due() const = 0;
  /// When to load more; nullopt if nothing is missing or there is no room.
  [[nodiscard]] virtual std::optional<WallTime> load_at(const WindowBounds& bounds) const = 0;
  /// A load begins. Returns the number of rows to read, in addition to those in flight or
  /// unsettled.
  [[nodiscard]] virtual std::uint32_t begin_load(const WindowBounds& bounds) = 0;
  /// A load has ended. Updates what is known about the rest; the caller then inserts the rows.
  virtual void end_load(const std::vector<Delivery>& rows, std::optional<WallTime> rest_due,
                        std::uint32_t limit) = 0;

 protected:
  Window() = default;
  Window(const Window&) = default;
  Window& operator=(const Window&) = default;
};

/// For Ordering::none: by due time within a priority.
[[nodiscard]] std::unique_ptr<Window> make_urgency_window();

/// For Ordering::strict and per_event_type: by sequence, in one line or one line per event type.
[[nodiscard]] std::unique_ptr<Window> make_ordered_window(Ordering ordering);

}  // namespace postrider
