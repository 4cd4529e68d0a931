// The live stream: distributes events about deliveries, circuits and alerts to subscribers.
//
// Recent events are kept, so that a subscriber that reconnects misses none. Without subscribers
// nothing is kept, and publishing costs one atomic load. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/model/delivery.h"
#include "core/policy/breaker.h"
#include "engine/shard/messages.h"

namespace postrider {

/// An attempt was recorded, or a delivery changed its state without an attempt.
struct DeliveryUpdate {
  Delivery delivery;  // After the change.
  std::optional<std::uint32_t> attempt_number;
  std::optional<FailureCategory> failure;
  std::optional<std::uint16_t> http_status;
  std::optional<Micros> duration;
  std::optional<DeadReason> dead;
};

/// New deliveries, which wait for their first attempt.
struct DeliveriesCreated {
  std::string event_type;
  std::uint64_t count = 0;
};

struct CircuitUpdate {
  CircuitState from = CircuitState::closed;
  CircuitState to = CircuitState::closed;
};

struct AlertUpdate {
  AlertKind kind = AlertKind::circuit_opened;
  std::string detail;
};

struct StreamEvent {
  using What = std::variant<DeliveryUpdate, DeliveriesCreated, CircuitUpdate, AlertUpdate>;

  WallTime at;
  std::optional<WebhookId> webhook_id;  // nullopt: several webhooks of the tenant.
  TenantId tenant_id;
  What what;
};

[[nodiscard]] StreamEvent stream_events_of(const Settlement& settlement, TenantId tenant_id);

/// Empty lists and nullopts do not restrict. An event of several webhooks passes every list of
/// webhooks. `states` and `event_types` apply to deliveries: if one of them is set, only events
/// about deliveries are admitted.
struct StreamFilter {
  std::optional<TenantId> tenant_id;
  std::vector<WebhookId> webhook_ids;
  std::vector<DeliveryState> states;
  std::vector<std::string> event_types;
};

[[nodiscard]] bool admits(const StreamFilter& filter, const StreamEvent& stream_event);

/// The last event a subscriber has seen. Sequences of different epochs are not comparable.
struct StreamPosition {
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;

  bool operator==(const StreamPosition&) const = default;
};

/// `<epoch>-<sequence>`, with the epoch in hex.
[[nodiscard]] std::string to_string(const StreamPosition& position);
[[nodiscard]] std::optional<StreamPosition> parse_stream_position(std::string_view text);

struct StreamOptions {
  std::uint64_t epoch = 1;            // Different in every process.
  std::size_t subscribers_max = 256;  // Each costs a connection and may hold a queue.
  std::size_t queue_max = 1'024;      // Per subscriber; one that is this far behind is stuck.
  std::size_t recent_max = 4'096;     // For reconnects: about two megabytes.
  Millis recent_for{60'000};          // After the last subscriber left.
};

class StreamHub {
 public:
  struct Item {
    StreamPosition position;
    std::shared_ptr<const StreamEvent> stream_event;
  };

  /// The events one subscriber has not taken yet.
  struct Batch {
    bool reset = false;  // Events were missed: the subscriber must reload everything.
    std::vector<Item> items;
    bool dropped = false;  // The subscriber was too slow. No further events follow.
  };

  class Subscription {
   public:
    virtual ~Subscription() = default;
    /// Never blocks.
    [[nodiscard]] virtual Batch take() = 0;
  };

  explicit StreamHub(StreamOptions options) : options_(options) {}
  StreamHub(const StreamHub&) = delete;
  StreamHub& operator=(const StreamHub&) = delete;

  /// False: `publish` does nothing. Lets callers skip the work of making an event.
  [[nodiscard]] bool is_active() const { return active_.load(std::memory_order_relaxed); }
  void publish(StreamEvent stream_event);

  /// Resumes after `seen`, if given. `wake` runs at most once between two calls of `take`, on the
  /// thread that publishes and under a lock: it must only post a message. The subscription ends
  /// when its object is destroyed; the hub must outlive it. Fails with unavailable if there are too
  /// many subscribers.
  [[nodiscard]] Result<std::unique_ptr<Subscription>> subscribe(StreamFilter filter,
                                                                std::optional<StreamPosition> seen,
                                                                std::function<void()> wake);

  [[nodiscard]] std::size_t subscribers() const;

 private:
  struct Subscriber;
  class Handle;

  void resume(Subscriber& subscriber, const std::optional<StreamPosition>& seen);
  void enqueue(Subscriber& subscriber, const Item& item);
  void leave(Subscriber& subscriber);
  [[nodiscard]] Batch take(Subscriber& subscriber);

  const StreamOptions options_;
  std::atomic<bool> active_{false};
  mutable std::mutex mutex_;  // Guards all below.
  std::vector<Subscriber*> subscribers_;
  std::deque<Item> recent_;
  std::uint64_t last_sequence_ = 0;
  std::optional<WallTime> idle_since_;  // The first event after the last subscriber left.
};

}  // namespace postrider
