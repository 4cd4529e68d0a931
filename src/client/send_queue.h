// The events that a client has accepted: which are sent next, and when. Pure: the caller passes the
// time. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "core/base/time.h"

#include "client/backoff.h"

namespace postrider::client {

struct QueueLimits {
  std::size_t events_max = 0;
  std::size_t bytes_max = 0;
  std::size_t batch_events_max = 0;
  std::size_t batch_bytes_max = 0;
  Millis batch_delay{0};
};

struct QueuedEvent {
  std::uint64_t ticket = 0;  // Names the event to the caller.
  std::string text;          // JSON.

  bool operator==(const QueuedEvent&) const = default;
};

struct Batch {
  std::vector<QueuedEvent> events;
  std::uint32_t postponed = 0;  // How often in a row.

  bool operator==(const Batch&) const = default;
};

class SendQueue {
 public:
  explicit SendQueue(QueueLimits limits) : limits_(limits) {}

  [[nodiscard]] bool has_room_for(std::size_t bytes) const;
  /// True if the event would not even fit into an empty queue.
  [[nodiscard]] bool is_too_large(std::size_t bytes) const { return bytes > limits_.bytes_max; }
  /// There must be room.
  void add(QueuedEvent event, MonoTime now);

  struct Idle {};  // Until an event is added.
  struct WaitUntil {
    MonoTime time;
  };
  using Next = std::variant<Batch, WaitUntil, Idle>;
  /// What to do now. A batch is taken out, but uses room until its events are settled. At most one
  /// batch is out at a time.
  [[nodiscard]] Next next(MonoTime now);

  /// Batches are sent without waiting until they are full.
  void set_hurry(bool hurry) { hurry_ = hurry; }

  /// An event has its result. Frees its room.
  void settle(const QueuedEvent& event);
  /// Sends the batch again, and nothing before that.
  void repeat(Batch batch, MonoTime due);
  /// Sends the events again, and others meanwhile.
  void postpone(Batch batch, MonoTime due);
  /// Sends each half of the batch next, alone. It must have at least two events.
  void split(Batch batch);

 private:
  struct Fresh {
    QueuedEvent event;
    MonoTime since;
  };
  struct Postponed {
    Batch batch;
    MonoTime due;
  };

  [[nodiscard]] bool is_batch_full() const;
  [[nodiscard]] Batch take_fresh();

  QueueLimits limits_;
  std::deque<Fresh> fresh_;
  std::size_t fresh_bytes_ = 0;
  std::deque<Batch> ready_;           // Batches that are sent before anything else.
  std::vector<Postponed> postponed_;  // A few at a time: each has been a batch.
  MonoTime paused_until_{};
  std::size_t events_ = 0;  // Of all of the above, and of the batch that is out.
  std::size_t bytes_ = 0;
  bool hurry_ = false;
};

}  // namespace postrider::client
