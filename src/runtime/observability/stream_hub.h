// Who wants to know what happens as it happens: news in, subscribers out.
//
// The latest news are kept for a while, so that a subscriber who comes back misses nothing. Nothing
// is kept, and nothing costs more than one atomic load, while nobody listens. Any thread.
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
#include "engine/shard/shard.h"

namespace postrider {

/// An attempt is over and recorded, or a delivery was closed without one.
struct DeliveryUpdate {
  Delivery delivery;  // As it is now.
  std::optional<std::uint32_t> attempt_number;
  std::optional<FailureCategory> failure;
  std::optional<std::uint16_t> http_status;
  std::optional<Micros> duration;
  std::optional<DeadReason> dead;
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
  WallTime at;
  WebhookId webhook_id;
  TenantId tenant_id;
  std::variant<DeliveryUpdate, CircuitUpdate, AlertUpdate> what;
};

[[nodiscard]] StreamEvent stream_events_of(const Settlement& settlement, TenantId tenant_id);

/// Empty lists and nullopts do not restrict. `states` and `event_types` are about deliveries: with
/// one of them there is no other news.
struct StreamFilter {
  std::optional<TenantId> tenant_id;
  std::vector<WebhookId> webhook_ids;
  std::vector<DeliveryState> states;
  std::vector<std::string> event_types;
};

[[nodiscard]] bool admits(const StreamFilter& filter, const StreamEvent& stream_event);

/// Which news a subscriber has seen. Another process counts in another epoch.
struct StreamPosition {
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;

  bool operator==(const StreamPosition&) const = default;
};

/// `<epoch>-<sequence>`, the epoch in hex.
[[nodiscard]] std::string to_string(const StreamPosition& place);
[[nodiscard]] std::optional<StreamPosition> parse_stream_place(std::string_view text);

struct StreamOptions {
  std::uint64_t epoch = 1;            // Different in every process.
  std::size_t subscribers_max = 256;  // Each costs a connection and may hold a queue.
  std::size_t queue_max = 1'024;      // Per subscriber; a browser that is this far behind is stuck.
  std::size_t kept_max = 4'096;       // For those who come back: about two megabytes.
  Millis kept_for{60'000};            // After the last subscriber left.
};

class StreamHub {
 public:
  struct Item {
    StreamPosition place;
    std::shared_ptr<const StreamEvent> stream_event;
  };

  /// What is new for one subscriber.
  struct Batch {
    bool reset = false;  // Something was missed: the subscriber must load everything anew.
    std::vector<Item> items;
    bool dropped = false;  // It was too slow: these are the last.
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

  /// False: `tell` would do nothing.
  [[nodiscard]] bool is_wanted() const { return wanted_.load(std::memory_order_relaxed); }
  void tell(StreamEvent stream_event);

  /// `wake` runs on the thread of a `tell`, under a lock: it must only pass the message on. It runs
  /// once between two calls of `take`. `seen`: go on behind this. The subscription ends with its
  /// object; the hub outlives it. Fails with unavailable when there are too many.
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
  std::atomic<bool> wanted_{false};
  mutable std::mutex mutex_;  // Guards all below.
  std::vector<Subscriber*> subscribers_;
  std::deque<Item> kept_;
  std::uint64_t last_sequence_ = 0;
  std::optional<WallTime> alone_since_;  // The first news after the last subscriber left.
};

}  // namespace postrider
