// The waiting deliveries of one lane that are in memory, and what is known about those that are
// not.
//
// A lane holds a window, not a queue: the store has everything, so the window may forget any
// waiting delivery as long as it remembers that the store has more. One implementation for lanes
// without order, one for lanes with. Owned by a Lane, which owns the entries.
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

/// How a delivery comes to the window.
enum class Arrival : std::uint8_t {
  admitted,  // Committed just now, or revived: others before it may be in the store only.
  loaded,    // Read from the store, together with all that come before it.
  returned,  // It was in this window or in flight from it.
};

struct WindowBounds {
  WallTime now;                 // Steady wall time.
  std::uint32_t count_max = 0;  // Deliveries to hold.
  Millis load_ahead{0};         // Without order, deliveries due later than this stay in the store.
};

/// What the waiting deliveries would allow, seen alone.
struct WindowOutlook {
  Offer offer;
  std::optional<WallTime> next_due;  // When time alone adds to the offer.
  bool held_by_order = false;        // Some delivery waits for one before it.
};

class Window {
 public:
  virtual ~Window() = default;

  /// Takes in a waiting delivery. Returns the one that must be forgotten to stay within bounds,
  /// which may be `entry` itself and is no longer in the window; null when there is none.
  [[nodiscard]] virtual Entry* insert(Entry& entry, Arrival arrival,
                                      const WindowBounds& bounds) = 0;
  /// A waiting delivery leaves for good.
  virtual void drop(Entry& entry) = 0;
  /// A waiting delivery leaves because its attempt starts …
  virtual void start(Entry& entry) = 0;
  /// … and the attempt is over: settled, or abandoned. One that goes back in line is inserted
  /// before.
  virtual void end(const Entry& entry) = 0;
  /// A delivery is in flight or unsettled that did not start from this window.
  virtual void adopt(const Entry& entry) = 0;
  /// Forgets all that wait. In no particular order.
  [[nodiscard]] virtual std::vector<Entry*> forget_all() = 0;

  [[nodiscard]] virtual WindowOutlook outlook(WallTime now) const = 0;
  /// The delivery to start next; null when the outlook does not offer one.
  [[nodiscard]] virtual Entry* next(Priority priority, Candidates candidates,
                                    WallTime now) const = 0;
  [[nodiscard]] virtual std::size_t count() const = 0;

  /// The store has deliveries that this window may not have, the earliest due then.
  virtual void store_has_more(WallTime due) = 0;
  [[nodiscard]] virtual std::optional<WallTime> rest_due() const = 0;
  /// When it is worth loading: nullopt when nothing is missing or there is no room for it.
  [[nodiscard]] virtual std::optional<WallTime> load_at(const WindowBounds& bounds) const = 0;
  /// A load begins. Returns how many rows it has room for, beside those that are in flight or
  /// unsettled.
  [[nodiscard]] virtual std::uint32_t load_began(const WindowBounds& bounds) = 0;
  /// What the load says about the rest. The caller inserts the rows afterwards.
  virtual void load_ended(const std::vector<Delivery>& rows, std::optional<WallTime> rest_due,
                          std::uint32_t limit) = 0;

 protected:
  Window() = default;
  Window(const Window&) = default;
  Window& operator=(const Window&) = default;
};

/// Ordering::none: the most urgent first, by due time within a priority.
[[nodiscard]] std::unique_ptr<Window> make_urgency_window();

/// Ordering::strict and per_event_type: one line, or one per event type, by sequence.
[[nodiscard]] std::unique_ptr<Window> make_ordered_window(Ordering ordering);

}  // namespace postrider
