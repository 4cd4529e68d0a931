// The messages of a shard: the inputs it is given and the commands it returns. Plain structs that
// do not know class Shard, so that ports and adapters can use them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/alert.h"
#include "core/model/attempt.h"
#include "core/model/delivery.h"
#include "core/model/lease.h"
#include "core/model/webhook.h"
#include "core/policy/breaker.h"
#include "core/policy/webhook_caps.h"
#include "core/request/request_shape.h"

namespace postrider {

// ---------------------------------------------------------------- inputs

/// These deliveries were just committed. The shard may drop them from memory at any time: the store
/// has them.
struct Admitted {
  std::vector<Delivery> deliveries;
};

/// The answer to LoadLane. `rest_due` is set if the store holds more deliveries than these: the
/// earliest time at which one of the others can be due.
struct LaneLoaded {
  WebhookId webhook_id;
  std::vector<Delivery> deliveries;
  std::optional<WallTime> rest_due;
};

/// LoadLane failed. The lane retries later.
struct LaneLoadFailed {
  WebhookId webhook_id;
};

/// The stored part of an attempt's request. Shared by many attempts.
using RequestShapeRef = std::shared_ptr<const RequestShape>;

/// The answer to StartAttempt, exactly once for each.
struct AttemptFinished {
  WebhookId webhook_id;
  DeliveryId delivery_id;
  Outcome outcome;
  RequestShapeRef request = nullptr;  // Null if there was nothing to send.
};

/// StartAttempt could not be performed for a local reason (payload unreadable, a shortage, shutting
/// down, the part was lost). Nothing was learnt about the receiver. The delivery waits again.
struct AttemptAbandoned {
  WebhookId webhook_id;
  DeliveryId delivery_id;
  Shortage shortage = Shortage::none;
  /// Nothing may be sent for the webhook at the moment: its part is about to be lost (P8).
  bool not_permitted = false;
};

/// Identifies the delivery of a settlement, and its lane.
struct LaneDelivery {
  WebhookId webhook_id;
  DeliveryId delivery_id;
};

/// The settlements of these deliveries are on disk.
struct Settled {
  std::vector<LaneDelivery> deliveries;
};

/// The settlements of these deliveries were not stored. The shard keeps them, stops starting
/// attempts, and submits them again after a pause.
struct StoreFailed {
  std::vector<LaneDelivery> deliveries;
};

/// A webhook was created, changed, paused or resumed. At startup, sent once for every webhook.
struct WebhookChanged {
  std::shared_ptr<const Webhook> webhook;
  std::optional<CircuitRecord> circuit;  // At startup only.
  std::optional<WallTime> backlog_due;   // Set if deliveries wait in the store: the earliest due.
  bool at_start = false;  // Earlier attempts are unknown, so the token bucket starts empty (P7).
  std::vector<PastCall> past_calls = {};  // At startup only: see `calls_to_restore`. Oldest first.
};

/// Part of the answer to Reschedule, any number of times: these waiting deliveries are now due
/// earlier.
struct Rescheduled {
  WebhookId webhook_id;
  std::vector<Delivery> deliveries;
};

/// The webhook was deleted, and its waiting deliveries are already cancelled in the store. Or, with
/// `handed_over`, another node works it from now on: what is in flight is settled as always.
struct WebhookRemoved {
  WebhookId webhook_id;
  bool handed_over = false;
};

/// A tenant was suspended or resumed. The lanes of a suspended tenant start nothing, including
/// lanes that are added later. At startup, sent for every suspended tenant before its webhooks.
struct TenantSuspension {
  TenantId tenant_id;
  bool suspended = true;
};

/// The limits of a tenant changed; see core/policy/webhook_caps.h. Attempts in flight keep their
/// timeout. At startup, sent for every registered tenant with such limits before its webhooks.
struct TenantLimited {
  TenantId tenant_id;
  TenantLimits limits;
};

/// A user cancelled the delivery in the store; the shard drops it from memory. An attempt in flight
/// is not interrupted.
struct DeliveryCancelled {
  WebhookId webhook_id;
  DeliveryId delivery_id;
};

enum class CircuitAction : std::uint8_t { reset, force_open, force_close };

/// A user changed the state of a circuit. With leases it may come when the webhook has no lane
/// here: then it waits for the lane, or CircuitCommandReturned follows.
struct CircuitCommanded {
  WebhookId webhook_id;
  CircuitAction action = CircuitAction::reset;
  std::optional<Millis> duration;  // nullopt: until reset.

  bool operator==(const CircuitCommanded&) const = default;
};

/// A slot that this shard was refused before is now free and reserved for it: a slot of the tenant,
/// of the host, or of the total (neither is set). The shard uses it in this step or releases it.
/// Also sent without a slot when a limit has grown: the shard asks again, also for tokens.
struct SlotReserved {
  std::optional<TenantId> tenant_id = {};
  std::optional<std::string> host = {};

  bool operator==(const SlotReserved&) const = default;
};

// The next two come only with ShardOptions::leased. Then every webhook belongs to a part
// (shard_of), and inputs about webhooks of parts that are not worked are ignored. A part is
// acquired once with an epoch, and epochs grow.

/// The webhooks of this part may be worked from now on. Settlements are stored under the epoch.
/// The WebhookChanged of its webhooks follow, with `at_start`. A ShardLost with this epoch may have
/// come before: then it is ignored. All answers to what was asked of the store before the part was
/// last handed back have come.
struct ShardAcquired {
  ShardNumber shard = 0;
  Epoch epoch = 0;

  bool operator==(const ShardAcquired&) const = default;
};

/// Another node will work this part's webhooks. Those whose attempts take long are stopped first;
/// when nothing of them is in flight, the others are stopped too. Attempts in flight end by
/// themselves and are settled, except that one of an otherwise idle part that takes longer than two
/// seconds is ended. With `at_once` the lease is about to end: everything is stopped, EndAttempts
/// follows, and what is not settled is forgotten. It may still be stored: the ledger checks whether
/// the lease was held.
///
/// Comes a second time with `at_once` if the shard cannot be kept until it is handed back. May come
/// before its ShardAcquired, because it does not wait for the store. Answered by ShardHandedBack,
/// once for each epoch.
struct ShardLost {
  ShardNumber shard = 0;
  Epoch epoch = 0;
  bool at_once = false;

  bool operator==(const ShardLost&) const = default;
};

/// The alarm set by SetAlarm went off. A spurious one does no harm.
struct AlarmRang {};

/// ChosenDelivery no more attempts. Drained follows when nothing is in flight and everything is
/// settled.
struct DrainRequested {};

/// All inputs: everything that can change the state of a delivery.
using Input = std::variant<Admitted, LaneLoaded, LaneLoadFailed, AttemptFinished, AttemptAbandoned,
                           Settled, StoreFailed, WebhookChanged, Rescheduled, WebhookRemoved,
                           TenantSuspension, TenantLimited, DeliveryCancelled, CircuitCommanded,
                           SlotReserved, ShardAcquired, ShardLost, AlarmRang, DrainRequested>;

// ---------------------------------------------------------------- commands

/// Send this delivery's request now. Always answered by AttemptFinished or AttemptAbandoned.
struct StartAttempt {
  Delivery delivery;
  std::uint32_t attempt_number = 1;
  Millis timeout{0};
};

/// The record of an attempt and the state its delivery moves to. Applying it twice has no further
/// effect: `(delivery, attempt number)` is unique.
struct Settlement {
  Delivery delivery;                  // With its new state, due time and counts.
  std::optional<Attempt> attempt;     // nullopt if the delivery is closed without an attempt.
  std::optional<DeadReason> dead;     // Only with state dead_letter.
  RequestShapeRef request = nullptr;  // The attempt's. Null if there was nothing to send.

  bool operator==(const Settlement&) const = default;
};

/// Store the settlement. Answered by Settled or StoreFailed.
struct Settle {
  Settlement settlement;
  bool is_resubmission = false;  // Submitted before; the store failed. Not to be reported twice.
};

/// Read the first waiting deliveries of a webhook: by due time with Ordering::none (at most `limit`
/// of each priority, due before `due_before`), by sequence otherwise (at most `limit`; with
/// per_event_type at most `limit` of each type). May include deliveries the lane already has.
struct LoadLane {
  WebhookId webhook_id;
  Ordering ordering = Ordering::none;
  WallTime due_before;
  std::uint32_t limit = 0;
};

/// The webhook's retry policy changed. Bring its waiting deliveries forward in the store as far as
/// the new policy says (`due_under`), in small steps, after everything submitted earlier.
struct Reschedule {
  WebhookId webhook_id;
};

/// Send AlarmRang at `at`. Replaces the previous alarm.
struct SetAlarm {
  MonoTime at;
};

/// Store the circuit for the next start. Not answered; the latest one wins.
struct SaveCircuit {
  WebhookId webhook_id;
  CircuitRecord record;
  std::vector<OpenPeriod> periods = {};  // That began or ended. Oldest first; none is lost.
};

/// Adds the periods of an earlier change that was not stored. Keeps the latest
/// `periods_unsaved_max` if the store is down while the circuit opens and closes.
constexpr std::size_t periods_unsaved_max = 100;
inline void add_unsaved_periods(SaveCircuit& save, const SaveCircuit& earlier) {
  save.periods.insert(save.periods.begin(), earlier.periods.begin(), earlier.periods.end());
  if (save.periods.size() > periods_unsaved_max) {
    save.periods.erase(save.periods.begin(), save.periods.end() - periods_unsaved_max);
  }
}

/// Deactivate the webhook: its receiver answered 410 Gone, or every attempt failed for too long.
struct DisableWebhook {
  WebhookId webhook_id;
  std::string reason;
};

struct RaiseAlert {
  AlertKind kind = AlertKind::circuit_opened;
  WebhookId webhook_id;
  std::string detail;
  std::optional<AlertMeasure> measure = std::nullopt;
};

/// End the requests of this part's webhooks now. Their attempts are abandoned.
struct EndAttempts {
  ShardNumber shard = 0;

  bool operator==(const EndAttempts&) const = default;
};

/// Hand the command over to the node that works the webhook: it has no lane here. If its part is
/// ending, comes before the ShardHandedBack.
struct CircuitCommandReturned {
  CircuitCommanded command;

  bool operator==(const CircuitCommandReturned&) const = default;
};

/// The answer to ShardLost: nothing of the shard is in flight, everything of it is settled or
/// forgotten, and its lanes are gone.
struct ShardHandedBack {
  ShardNumber shard = 0;

  bool operator==(const ShardHandedBack&) const = default;
};

/// The answer to DrainRequested.
struct Drained {};

/// All commands. The runtime performs them and decides nothing.
using Command =
    std::variant<StartAttempt, Settle, LoadLane, Reschedule, SetAlarm, SaveCircuit, DisableWebhook,
                 RaiseAlert, EndAttempts, CircuitCommandReturned, ShardHandedBack, Drained>;
using Commands = std::vector<Command>;

}  // namespace postrider
