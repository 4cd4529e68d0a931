#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/policy/retry.h"
#include "engine/shard/attempt_settlement.h"
#include "engine/shard/shard_state.h"

namespace postrider {

void ShardState::on(Admitted& input) {
  for (Delivery& delivery : input.deliveries) {
    Lane* lane = lanes.find(delivery.webhook_id);
    if (!lane || lane->removed()) {
      cancel_unknown(std::move(delivery));
      continue;
    }
    const DeliveryId id = delivery.id;
    lane->admit(std::move(delivery), bounds());
    if (const std::optional<Revival> revival = lane->revival(id)) {
      pending.revive(id, *revival);
    }
    touch(*lane);
  }
}

/// The webhook was removed after the event was matched and before it was committed. The delivery
/// must not stay pending forever.
void ShardState::cancel_unknown(Delivery delivery) {
  if (pending.contains(delivery.id)) {
    return;
  }
  delivery.state = DeliveryState::cancelled;
  settle(Settlement{.delivery = std::move(delivery), .attempt = {}, .dead = {}});
}

void ShardState::on(LaneLoaded& input) {
  Lane* lane = lanes.find(input.webhook_id);
  if (!loads.finish(input.webhook_id) || !lane) {
    return;
  }
  if (lane->removed()) {
    lane->fail_load(now.mono);  // The loaded deliveries are already cancelled.
    return;
  }
  lane->end_load(std::move(input), bounds(), now.mono);
  touch(*lane);
}

void ShardState::on(LaneLoadFailed& input) {
  Lane* lane = lanes.find(input.webhook_id);
  if (loads.finish(input.webhook_id) && lane) {
    lane->fail_load(now.mono);
    touch(*lane);
  }
}

void ShardState::on(AttemptFinished& input) {
  Lane* lane = lanes.find(input.webhook_id);
  const Entry* entry = lane ? lane->in_flight(input.delivery_id) : nullptr;
  if (!entry) {
    return;  // Not started by this shard.
  }
  const Webhook& webhook = lane->webhook();
  const bool failed = categorize(input.outcome).has_value();
  with_circuit(*lane, [&](Breaker& breaker) {
    failed ? breaker.on_failure(webhook.breaker, now.wall)
           : breaker.on_success(webhook.breaker, now.wall);
  });
  AttemptSettlement settled = settle_attempt(
      *entry, std::move(input.outcome), webhook.retry,
      {.attempt_id = ids.make<AttemptId>(now.wall), .now = now.wall, .draw = random.draw()});
  settled.settlement.request = std::move(input.request);
  lane->finish(input.delivery_id, settled.settlement.delivery);
  give_back_slot(lane->tenant());
  settle(std::move(settled.settlement));

  if (settled.disable_webhook) {
    disable(*lane, "The receiver answered 410 Gone.");
  } else if (failed && options.disable_after > Millis{0} &&
             lane->breaker().failed_for(options.disable_after, now.wall)) {
    disable(*lane, fmt::format("Every attempt has failed since {}.",
                               to_rfc3339(*lane->breaker().record().failing_since)));
  }
  touch(*lane);
}

void ShardState::disable(Lane& lane, const std::string& reason) {
  if (lane.closed()) {
    return;
  }
  const WebhookId webhook_id = lane.webhook().id;
  commands.emplace_back(DisableWebhook{.webhook_id = webhook_id, .reason = reason});
  if (lane.mark_disabled()) {  // Only one alert, also if other attempts in flight fail.
    commands.emplace_back(RaiseAlert{
        .kind = AlertKind::webhook_disabled, .webhook_id = webhook_id, .detail = reason});
  }
}

void ShardState::on(AttemptAbandoned& input) {
  Lane* lane = lanes.find(input.webhook_id);
  if (!lane || !lane->in_flight(input.delivery_id)) {
    return;
  }
  with_circuit(*lane, [](Breaker& breaker) { breaker.on_abandoned(); });
  lane->abandon(input.delivery_id, bounds());
  give_back_slot(lane->tenant());
  touch(*lane);
}

void ShardState::on(Settled& input) {
  for (const LaneDelivery& settled : input.deliveries) {
    pending.confirm(settled.delivery_id, now.mono);
    if (Lane* lane = lanes.find(settled.webhook_id)) {
      lane->settle(settled.delivery_id, bounds());
      touch(*lane);
    }
  }
}

void ShardState::on(StoreFailed& input) { pending.fail(input.deliveries, now.mono); }

void ShardState::on(WebhookChanged& input) {
  POSTRIDER_ASSERT(input.webhook != nullptr);
  Lane& lane = lane_of(input);
  if (input.backlog_due) {
    lane.store_has_more(*input.backlog_due);
  }
  shorten_open_time(lane);
  touch(lane);
}

/// Returns the webhook's lane, updated to the new settings.
Lane& ShardState::lane_of(const WebhookChanged& input) {
  const Webhook& webhook = *input.webhook;
  if (Lane* known = lanes.find(webhook.id)) {
    if (known->webhook().tenant_id != webhook.tenant_id) {
      move_lane(*known, webhook.tenant_id);
    }
    const bool reactivated = webhook.active && !known->webhook().active;
    if (!same_schedule(known->webhook().retry, webhook.retry)) {
      commands.emplace_back(Reschedule{webhook.id});
    }
    known->change(input.webhook, now.mono);
    if (reactivated) {
      with_circuit(*known, [](Breaker& breaker) { breaker.forget_failures(); });
    }
    return *known;
  }
  const TenantIndex tenant = join_tenant(webhook.tenant_id);
  Lane& lane = lanes.add(tenant, input.webhook, now.mono);
  share.add(lane.index(), tenant);
  if (input.circuit) {
    lane.breaker() = Breaker{*input.circuit};
  }
  if (input.at_start) {
    lane.empty_bucket(now.mono);
  }
  return lane;
}

/// An open circuit may have to probe sooner than its record says: the policy became more lenient,
/// or the clock was wrong when it opened. A refused try_acquire updates the record.
void ShardState::shorten_open_time(Lane& lane) {
  const BreakerPolicy& policy = lane.webhook().breaker;
  const std::optional<WallTime> retry_at = lane.breaker().retry_at(policy, now.wall);
  if (!retry_at || *retry_at <= now.wall) {
    return;
  }
  with_circuit(lane, [&](Breaker& breaker) {
    if (breaker.try_acquire(policy, now.wall)) {
      breaker.on_abandoned();
    }
  });
}

/// Moves the lane to another tenant, which is then charged for its attempts in flight.
void ShardState::move_lane(Lane& lane, const TenantId& tenant_id) {
  const TenantIndex from = lane.tenant();
  const TenantIndex to = join_tenant(tenant_id);
  share.remove(lane.index());
  allowance.move(from, to, lane.in_flight_count());
  if (tenants.at(from).parked == Parked::slots) {
    unpark(from, Parked::slots);
  }
  leave_tenant(from);
  lane.move_to(to);
  share.add(lane.index(), to);
}

void ShardState::on(Rescheduled& input) {
  Lane* lane = lanes.find(input.webhook_id);
  if (lane && !lane->removed()) {
    lane->bring_forward(input.deliveries, bounds());
    touch(*lane);
  }
}

void ShardState::on(WebhookRemoved& input) {
  Lane* lane = lanes.find(input.webhook_id);
  if (lane) {
    lane->remove();
    touch(*lane);
  }
}

void ShardState::on(DeliveryCancelled& input) {
  Lane* lane = lanes.find(input.webhook_id);
  if (lane) {
    lane->cancel(input.delivery_id);
    touch(*lane);
  }
}

void ShardState::on(CircuitCommanded& input) {
  Lane* lane = lanes.find(input.webhook_id);
  if (!lane || lane->removed()) {
    return;
  }
  const std::optional<WallTime> until =
      input.duration ? std::optional{later(now.wall, *input.duration)} : std::nullopt;
  const CircuitRecord before = lane->breaker().record();
  switch (input.action) {
    case CircuitAction::reset:
      lane->breaker().reset(now.wall);
      break;
    case CircuitAction::force_open:
      lane->breaker().force_open(now.wall, until);
      break;
    case CircuitAction::force_close:
      lane->breaker().force_close(now.wall, until);
      break;
  }
  // A user did this on purpose: the change is stored, but raises no alert.
  if (lane->breaker().record() != before) {
    commands.emplace_back(
        SaveCircuit{.webhook_id = input.webhook_id, .record = lane->breaker().record()});
  }
  touch(*lane);
}

void ShardState::on(SlotReserved& input) {
  const TenantIndex* tenant = input.tenant_id ? tenants.find(*input.tenant_id) : nullptr;
  if (!tenant) {
    return;  // A slot of the total, which every step tries to use, or the tenant has no lanes now.
  }
  reserved_tenants.push_back(*tenant);
  if (tenants.at(*tenant).parked == Parked::slots) {
    unpark(*tenant, Parked::slots);
  }
}

void ShardState::on(AlarmRang&) {
  alarm_at.reset();  // If it was early, this step sets it again.
}

void ShardState::on(DrainRequested&) { draining = true; }

void ShardState::settle(Settlement settlement) {
  pending.add(settlement);
  commands.emplace_back(Settle{.settlement = std::move(settlement)});
}

void ShardState::circuit_changed(const Lane& lane, const CircuitRecord& before) {
  const CircuitRecord& record = lane.breaker().record();
  if (record == before || lane.removed()) {
    return;
  }
  const WebhookId webhook_id = lane.webhook().id;
  commands.emplace_back(SaveCircuit{.webhook_id = webhook_id, .record = record});
  // One alert per outage, however often a probe fails and the circuit opens again.
  if (before.state == CircuitState::closed && record.state == CircuitState::open) {
    commands.emplace_back(RaiseAlert{
        .kind = AlertKind::circuit_opened,
        .webhook_id = webhook_id,
        .detail = fmt::format("Too many attempts failed. The next attempt is made after {}.",
                              to_rfc3339(record.open_until.value_or(now.wall)))});
  } else if (before.state != CircuitState::closed && record.state == CircuitState::closed) {
    commands.emplace_back(
        RaiseAlert{.kind = AlertKind::circuit_recovered,
                   .webhook_id = webhook_id,
                   .detail = "The receiver answers again. Waiting deliveries are being sent."});
  }
}

}  // namespace postrider
