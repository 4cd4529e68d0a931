// The sans-IO delivery engine. A shard owns the lanes of some webhooks: everything known about them
// at run time. It decides which deliveries are attempted, when, and what becomes of them.
//
// Reads no clock, performs no I/O, never blocks, never throws; all its randomness comes from
// `seed`. The same seed and inputs give the same commands, which the simulation relies on. One
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/time.h"
#include "core/model/alert.h"
#include "core/model/attempt.h"
#include "core/model/delivery.h"
#include "core/model/webhook.h"
#include "core/policy/breaker.h"
#include "core/request/request_shape.h"

namespace postrider {

// ---------------------------------------------------------------- what can happen

/// These were just committed. Memory may forget them at once: the store has them.
struct Admitted {
  std::vector<Delivery> deliveries;
};

/// The answer to LoadLane. `rest_due` is set when the store holds more than this: the earliest time
/// one of those can be due.
struct LaneLoaded {
  WebhookId webhook_id;
  std::vector<Delivery> deliveries;
  std::optional<WallTime> rest_due;
};

/// LoadLane could not be answered. The lane asks again later.
struct LaneLoadFailed {
  WebhookId webhook_id;
};

/// What is kept of an attempt's request. Many attempts share one.
using RequestShapeRef = std::shared_ptr<const RequestShape>;

/// The answer to StartAttempt, once for each.
struct AttemptFinished {
  WebhookId webhook_id;
  DeliveryId delivery_id;
  Outcome outcome;
  RequestShapeRef request = nullptr;  // Null: there was nothing to send.
};

/// StartAttempt could not be carried out for a reason of ours (payload unreadable, drained):
/// nothing was sent, nothing is known about the receiver. The delivery goes back in line.
struct AttemptAbandoned {
  WebhookId webhook_id;
  DeliveryId delivery_id;
};

/// A delivery that a Settle spoke of, by its lane.
struct LaneDelivery {
  WebhookId webhook_id;
  DeliveryId delivery_id;
};

/// These settlements are on disk.
struct Settled {
  std::vector<LaneDelivery> deliveries;
};

/// These are not, and never will be unless they are asked for again. The shard keeps them, stops
/// sending, and asks again after a pause.
struct StoreFailed {
  std::vector<LaneDelivery> deliveries;
};

/// A webhook was created, changed, paused, resumed; at start-up, every one that is there. `circuit`
/// is given at start-up only. `backlog_due`: the store has waiting deliveries, the earliest due
/// then.
struct WebhookChanged {
  std::shared_ptr<const Webhook> webhook;
  std::optional<CircuitRecord> circuit;
  std::optional<WallTime> backlog_due;
  bool at_start = false;  // What was sent before is not known, so its bucket starts empty (P7).
};

/// Part of the answer to Reschedule, any number of times: these wait, and are due earlier than
/// before.
struct Rescheduled {
  WebhookId webhook_id;
  std::vector<Delivery> deliveries;
};

/// Deleted; its waiting deliveries are already cancelled in the store.
struct WebhookRemoved {
  WebhookId webhook_id;
};

/// Cancelled in the store by a person; memory must let go of it. One in flight runs to its end.
struct DeliveryCancelled {
  WebhookId webhook_id;
  DeliveryId delivery_id;
};

enum class CircuitAction : std::uint8_t { reset, force_open, force_close };

struct CircuitCommanded {
  WebhookId webhook_id;
  CircuitAction action = CircuitAction::reset;
  std::optional<Millis> duration;  // nullopt: until reset.
};

/// A slot that was refused to this shard before is free and kept for it: one of the tenant, or one
/// of all tenants together. It is used in this step or goes to others.
struct SlotKept {
  std::optional<TenantId> tenant_id;
};

/// The alarm set by SetAlarm rang. A spurious ring does no harm.
struct AlarmRang {};

/// Start nothing more; say Drained when nothing is in flight and everything is settled.
struct DrainRequested {};

/// Closed on purpose: to know what makes a delivery move, read this line.
using Input =
    std::variant<Admitted, LaneLoaded, LaneLoadFailed, AttemptFinished, AttemptAbandoned, Settled,
                 StoreFailed, WebhookChanged, Rescheduled, WebhookRemoved, DeliveryCancelled,
                 CircuitCommanded, SlotKept, AlarmRang, DrainRequested>;

// ---------------------------------------------------------------- what the shard asks for

/// Send this delivery's request now. Answered by AttemptFinished or AttemptAbandoned, always.
struct StartAttempt {
  Delivery delivery;
  std::uint32_t attempt_number = 1;
  Millis timeout{0};
};

/// An attempt's record and the state the delivery moves to. Answered by Settled or StoreFailed.
/// Applying it twice changes nothing: `(delivery, attempt number)` is unique.
struct Settlement {
  Delivery delivery;                  // As it is to be from now on: state, due, counts.
  std::optional<Attempt> attempt;     // None when a delivery is closed without one.
  std::optional<DeadReason> dead;     // Only with state dead_letter.
  RequestShapeRef request = nullptr;  // The attempt's. Null: there was nothing to send.

  bool operator==(const Settlement&) const = default;
};
struct Settle {
  Settlement settlement;
  bool again = false;  // Asked for before, and the store failed: it is no news.
};

/// Read the waiting deliveries of a webhook that come first: by due time with Ordering::none (at
/// most `limit` of each priority, due before `due_before`), by sequence otherwise (at most `limit`;
/// with per_event_type at most `limit` of each type). Deliveries the lane already has may be among
/// them.
struct LoadLane {
  WebhookId webhook_id;
  Ordering ordering = Ordering::none;
  WallTime due_before;
  std::uint32_t limit = 0;
};

/// The webhook's retry policy changed. Bring what waits for it forward in the store, a few at a
/// time, as far as the policy wants (due_under). Behind everything that was asked for before.
struct Reschedule {
  WebhookId webhook_id;
};

/// Send AlarmRang at `at`. Replaces the previous alarm.
struct SetAlarm {
  MonoTime at;
};

/// Keep this for the next start. Not answered; the latest wins.
struct SaveCircuit {
  WebhookId webhook_id;
  CircuitRecord record;
};

/// Switch the webhook off: its receiver said it is gone (410), or nothing reached it for too long.
struct DisableWebhook {
  WebhookId webhook_id;
  std::string reason;
};

struct RaiseAlert {
  AlertKind kind = AlertKind::circuit_opened;
  WebhookId webhook_id;
  std::string detail;
};

struct Drained {};

/// Everything the engine can ask for. The runtime performs these; it decides nothing.
using Command = std::variant<StartAttempt, Settle, LoadLane, Reschedule, SetAlarm, SaveCircuit,
                             DisableWebhook, RaiseAlert, Drained>;
using Commands = std::vector<Command>;

// ---------------------------------------------------------------- the shard

struct ShardOptions {
  // The first five are shared by all shards that are given one Allowance.
  std::uint32_t in_flight_max = 4096;          // All lanes together: sockets are finite.
  std::uint32_t tenant_in_flight_max = 2048;   // One tenant: half, so that no one has it all.
  std::uint32_t first_attempt_reserve = 1024;  // Slots that retries never take.
  std::optional<RateLimit> tenant_rate;        // Per tenant.
  std::optional<RateLimit> total_rate;         // All lanes together.
  std::uint32_t window_max = 128;              // Deliveries of one lane held in memory.
  std::uint32_t waiting_max = 32'768;    // About so many of all lanes; then windows are small.
  std::uint32_t unsettled_max = 16'384;  // More unconfirmed settlements: nothing starts.
  std::uint32_t loads_max = 64;          // LoadLane asked for at once.
  Millis load_ahead{30'000};             // Deliveries due later than this stay in the store.
  Millis store_retry_min{100};           // Pause after a StoreFailed, doubling …
  Millis store_retry_max{5'000};         // … up to this.
  /// A webhook that has only failed for so long is switched off at its next failure. Zero: never.
  Millis disable_after = std::chrono::hours{24 * 5};
};

enum class BlockReason : std::uint8_t {
  none,
  paused,
  inactive,
  circuit,
  rate,
  slots,
  order,
  store,
  drain
};
[[nodiscard]] std::string_view to_string(BlockReason reason);

/// What a lane is doing right now, for people.
struct LaneView {
  CircuitRecord circuit;
  BlockReason blocked = BlockReason::none;
  std::optional<WallTime> blocked_until;
  std::vector<DeliveryId> in_flight;
  std::uint32_t window_count = 0;  // Deliveries of this lane in memory.
  std::optional<double> tokens;    // Of the webhook's own bucket.
};

/// What the shard is doing right now, for metrics.
struct ShardView {
  std::uint32_t lanes = 0;
  std::uint32_t in_flight = 0;
  std::uint32_t unsettled = 0;
  std::array<std::uint32_t, priority_count> waiting{};  // In memory, by priority.
  std::array<std::uint32_t, 3> circuits{};              // Lanes by CircuitState.
  std::uint64_t rate_limited_total = 0;                 // Times a bucket made a lane wait.
};

class Allowance;
class Lane;
struct ShardState;

class Shard {
 public:
  /// Its limits are its own.
  Shard(ShardOptions options, std::uint64_t seed);
  /// They are shared; `allowance` speaks for this shard and outlives it.
  Shard(ShardOptions options, std::uint64_t seed, Allowance& allowance);
  ~Shard();
  Shard(Shard&&) noexcept;
  Shard& operator=(Shard&&) noexcept;

  /// The only way in. Takes the input by value: outcomes carry bytes that move on into settlements.
  [[nodiscard]] Commands step(Input input, Moment now);

  [[nodiscard]] std::optional<LaneView> view(WebhookId webhook_id, Moment now) const;
  [[nodiscard]] ShardView view() const;

 private:
  std::unique_ptr<ShardState> state_;
};

}  // namespace postrider
