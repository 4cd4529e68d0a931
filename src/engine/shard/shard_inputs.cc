#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/policy/retry.h"
#include "engine/alerts/alert_text.h"
#include "engine/shard/attempt_settlement.h"
#include "engine/shard/shard_state.h"

namespace postrider {
namespace {

// A lane without permission usually belongs to a part that is about to be lost. Short, in case the
// permission was renewed in the meantime.
constexpr Millis not_permitted_pause{200};

/// The slot of an attempt in flight.
SlotUse slot_of(const Lane& lane, const Entry& entry) {
  return {.tenant = lane.tenant(), .host = entry.host, .unproven = entry.unproven};
}

RaiseAlert circuit_opened_alert(const Webhook& webhook, const Breaker& breaker, WallTime now) {
  RaiseAlert alert{.kind = AlertKind::circuit_opened, .webhook_id = webhook.id, .detail = {}};
  const CallWindow calls = breaker.window(webhook.breaker, now);
  const ShareWindow::Count count{.total = calls.calls, .part = calls.failures};
  if (exceeds_timeouts(webhook.breaker, calls.timeouts_in_row)) {
    const std::uint32_t timeouts_max = webhook.breaker.consecutive_failure_threshold;
    alert.measure = {static_cast<double>(calls.timeouts_in_row), static_cast<double>(timeouts_max)};
    alert.detail = fmt::format("{} attempts in a row timed out; the circuit opens at {}.",
                               calls.timeouts_in_row, timeouts_max);
  } else if (const std::uint32_t failures_max = webhook.breaker.failure_count_threshold;
             failures_max > 0) {
    alert.measure = {static_cast<double>(count.part), static_cast<double>(failures_max)};
    alert.detail =
        fmt::format("{} attempts failed; the circuit opens at {}.", count.part, failures_max);
  } else {
    const double percent_max = webhook.breaker.error_threshold_percentage;
    alert.measure = {percentage_of(count), percent_max, AlertUnit::percent};
    alert.detail = fmt::format("{} failed; the circuit opens at {} %.",
                               share_text(count, "attempts"), percent_max);
  }
  alert.detail += fmt::format(" The next attempt is made after {}.",
                              to_rfc3339(breaker.record().open_until.value_or(wall_time_max)));
  return alert;
}

}  // namespace

void ShardState::on(Admitted& input) {
  for (Delivery& delivery : input.deliveries) {
    Lane* lane = lanes.find(delivery.webhook_id);
    if (!lane && parts.is_leased()) {
      parts.came_early(delivery.webhook_id, delivery.due);
      continue;
    }
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
/// must not stay pending forever. With leases this node may work the webhook no longer, or not know
/// it yet: the store thread looks and cancels.
void ShardState::cancel_unknown(Delivery delivery) {
  if (parts.is_leased() || pending.contains(delivery.id)) {
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
  if (parts.ends_at_once(shard_of(input.webhook_id))) {
    abandon(*lane, {.webhook_id = input.webhook_id, .delivery_id = input.delivery_id});
    return;
  }
  shortage.on_attempt();
  const Webhook& webhook = lane->webhook();
  const SlotUse slot = slot_of(*lane, *entry);
  const Priority priority = entry->delivery.priority;
  const std::optional<FailureCategory> failure = categorize(input.outcome);
  const bool failed = failure.has_value();
  const bool timed_out = failure == FailureCategory::timeout;
  const bool soon = now.mono - entry->started < slow_after && !timed_out;
  const bool hung = failed && !soon;
  origins.attempt_ended(entry->origin, entry->unproven, soon);
  const std::size_t commands_before = commands.size();
  with_circuit(*lane, [&](Breaker& breaker) {
    failed ? breaker.on_failure(webhook.breaker, now.wall, timed_out)
           : breaker.on_success(webhook.breaker, now.wall);
  });
  if (failed && commands.size() > commands_before) {
    if (RaiseAlert* opened = std::get_if<RaiseAlert>(&commands.back())) {
      opened->detail +=
          fmt::format(" The last attempt failed: {}.", short_failure(input.outcome, *failure));
    }
  }
  AttemptSettlement settled = settle_attempt(
      *entry, std::move(input.outcome), webhook.retry,
      {.attempt_id = ids.make<AttemptId>(now.wall), .now = now.wall, .draw = random.draw()});
  settled.settlement.request = std::move(input.request);
  lane->finish(input.delivery_id, settled.settlement.delivery, hung, now.mono);
  give_back_slot(slot, priority);
  settle(std::move(settled.settlement));

  if (settled.disable_webhook) {
    disable(*lane, "The receiver answered 410 Gone.");
  } else if (failed && options.disable_after > Millis{0} &&
             lane->breaker().failed_for(options.disable_after, now.wall)) {
    const WallTime since = *lane->breaker().record().failing_since;
    disable(*lane, fmt::format("Every attempt has failed since {}.", to_rfc3339(since)),
            AlertMeasure{.count = static_cast<double>((now.wall - since).count()),
                         .limit = static_cast<double>(options.disable_after.count()),
                         .unit = AlertUnit::ms});
  }
  touch(*lane);
}

void ShardState::disable(Lane& lane, const std::string& reason,
                         std::optional<AlertMeasure> measure) {
  if (lane.closed()) {
    return;
  }
  const WebhookId webhook_id = lane.webhook().id;
  commands.emplace_back(DisableWebhook{.webhook_id = webhook_id, .reason = reason});
  if (lane.mark_disabled()) {  // Only one alert, also if other attempts in flight fail.
    commands.emplace_back(RaiseAlert{.kind = AlertKind::webhook_disabled,
                                     .webhook_id = webhook_id,
                                     .detail = reason,
                                     .measure = measure});
  }
}

void ShardState::on(AttemptAbandoned& input) {
  Lane* lane = lanes.find(input.webhook_id);
  if (lane && lane->in_flight(input.delivery_id)) {
    abandon(*lane, input);
  }
}

void ShardState::abandon(Lane& lane, const AttemptAbandoned& input) {
  const Entry* entry = lane.in_flight(input.delivery_id);
  POSTRIDER_ASSERT(entry != nullptr);
  const SlotUse slot = slot_of(lane, *entry);
  const Priority priority = entry->delivery.priority;
  const double draw = random.draw();
  if (input.shortage == Shortage::server) {
    shortage.on_shortage(now.mono, draw);
  }
  if (input.not_permitted) {
    lane.hold_until(now.mono + not_permitted_pause);
  }
  with_circuit(lane, [](Breaker& breaker) { breaker.on_abandoned(); });
  origins.attempt_abandoned(entry->origin, entry->unproven);
  lane.abandon(input.delivery_id, draw, bounds());
  give_back_slot(slot, priority);
  touch(lane);
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
  const WebhookId id = input.webhook->id;
  if (!lanes.find(id) && !parts.works(shard_of(id))) {
    return;
  }
  Lane& lane = lane_of(input);
  if (input.backlog_due) {
    lane.store_has_more(*input.backlog_due);
  }
  const LeasedParts::Early early = parts.take_early(id);
  if (early.due) {
    lane.store_has_more(*early.due);
  }
  if (early.command) {
    apply(*early.command, lane);
  }
  shorten_open_time(lane);
  touch(lane);
}

/// Returns the webhook's lane, updated to the new settings.
Lane& ShardState::lane_of(const WebhookChanged& input) {
  const Webhook& webhook = *input.webhook;
  if (Lane* known = lanes.find(webhook.id)) {
    if (parts.works(shard_of(webhook.id))) {
      known->resume();
    }
    change_lane(*known, input.webhook);
    return *known;
  }
  const TenantIndex tenant = join_tenant(webhook.tenant_id);
  Lane& lane = lanes.add(tenant, input.webhook, now.mono);
  share.add(lane.index(), tenant);
  trials.add(lane.index(), tenant);
  parts.add_lane(shard_of(webhook.id), lane.index());
  apply_tenant_rules(lane);
  update_host(lane);
  lane.move_to_origin(origins.join(webhook.url));
  if (input.circuit) {
    lane.breaker() = Breaker{*input.circuit};
  }
  lane.breaker().restore(webhook.breaker, input.past_calls, now.wall);
  if (!input.past_calls.empty()) {
    const PastCall& last = input.past_calls.back();
    lane.restore_standing(last.ended - last.began);
  }
  force_open_by_policy(lane, std::nullopt);
  if (input.at_start) {
    lane.empty_bucket(now.mono);
  }
  if (lane.bucket()) {
    rate_reports.add(lane.index(), 0);
  }
  return lane;
}

void ShardState::change_lane(Lane& lane, const std::shared_ptr<const Webhook>& changed) {
  const Webhook& webhook = *changed;
  if (lane.webhook().tenant_id != webhook.tenant_id) {
    move_lane(lane, webhook.tenant_id);
  }
  const bool reactivated = webhook.active && !lane.webhook().active;
  const BreakerPolicy breaker_before = lane.webhook().breaker;
  if (!same_schedule(lane.webhook().retry, webhook.retry)) {
    commands.emplace_back(Reschedule{webhook.id});
  }
  lane.change(changed, now.mono);
  apply_tenant_rules(lane);
  update_host(lane);
  origins.leave(lane.origin());
  lane.move_to_origin(origins.join(webhook.url));
  rate_reports.add(lane.index(), 0);
  if (reactivated) {
    with_circuit(lane, [](Breaker& breaker) { breaker.forget_failures(); });
  }
  if (webhook.breaker.enabled && !breaker_before.enabled) {
    with_circuit(lane, [this](Breaker& breaker) { breaker.restart_window(now.wall); });
  }
  force_open_by_policy(lane, breaker_before.force_open_until);
}

/// Applies a changed `force_open_until`. Raises no alert: a user did this on purpose.
void ShardState::force_open_by_policy(Lane& lane, std::optional<WallTime> until_before) {
  const std::optional<WallTime> until = lane.webhook().breaker.force_open_until;
  const CircuitRecord before = lane.breaker().record();
  if (until == until_before) {
    return;
  }
  if (until && *until > now.wall && !(before.forced_open && before.forced_until == until)) {
    lane.breaker().force_open(now.wall, until);
  } else if (!until && before.forced_open && before.forced_until == until_before) {
    lane.breaker().reset(now.wall);
  }
  save_circuit(lane, before);
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
  count_for_tenant(lane, {});
  share.remove(lane.index());
  trials.remove(lane.index());
  allowance.move(from, to, lane.in_flight_count(), lane.unproven_count());
  if (tenants.at(from).parked == Parked::slots) {
    unpark(from);
  }
  leave_tenant(from);
  lane.move_to(to);
  share.add(lane.index(), to);
  trials.add(lane.index(), to);
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
  const LeasedParts::Early early = parts.take_early(input.webhook_id);
  if (early.command && input.handed_over) {
    commands.emplace_back(CircuitCommandReturned{*early.command});
  }
  if (lane) {
    input.handed_over ? lane->stop() : lane->remove();
    touch(*lane);
  }
}

void ShardState::on(TenantSuspension& input) {
  if (input.suspended) {
    suspended.insert(input.tenant_id);
  } else {
    suspended.erase(input.tenant_id);
  }
  lanes.for_each([&](Lane& lane) {
    if (lane.webhook().tenant_id != input.tenant_id || lane.suspended() == input.suspended) {
      return;
    }
    lane.set_suspended(input.suspended);
    if (!input.suspended) {
      // Nothing was sent meanwhile: the time does not count as time of failure.
      with_circuit(lane, [](Breaker& breaker) { breaker.forget_failures(); });
    }
    touch(lane);
  });
}

void ShardState::on(TenantLimited& input) {
  const WebhookCaps caps = caps_of(input.limits, options.caps);
  if (caps == options.caps) {
    tenant_caps.erase(input.tenant_id);
  } else {
    tenant_caps.insert_or_assign(input.tenant_id, caps);
  }
  lanes.for_each([&](Lane& lane) {
    if (lane.webhook().tenant_id == input.tenant_id) {
      lane.set_caps(caps);
      touch(lane);
    }
  });
}

void ShardState::apply_tenant_rules(Lane& lane) {
  const TenantId& id = lane.webhook().tenant_id;
  const auto caps = tenant_caps.find(id);
  lane.set_suspended(suspended.contains(id));
  lane.set_caps(caps == tenant_caps.end() ? options.caps : caps->second);
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
  if (!lane) {
    if (parts.is_leased() && !parts.came_early(input)) {
      commands.emplace_back(CircuitCommandReturned{input});
    }
  } else if (!lane->removed()) {
    apply(input, *lane);
    touch(*lane);
  }
}

void ShardState::apply(const CircuitCommanded& command, Lane& lane) {
  const std::optional<WallTime> until =
      command.duration ? std::optional{later(now.wall, *command.duration)} : std::nullopt;
  const CircuitRecord before = lane.breaker().record();
  switch (command.action) {
    case CircuitAction::reset:
      lane.breaker().reset(now.wall);
      break;
    case CircuitAction::force_open:
      lane.breaker().force_open(now.wall, until);
      break;
    case CircuitAction::force_close:
      lane.breaker().force_close(now.wall, until);
      break;
  }
  save_circuit(lane, before);  // A user did this on purpose, so it raises no alert.
}

void ShardState::on(SlotReserved& input) {
  if (const HostIndex* host = input.host ? hosts.find(*input.host) : nullptr) {
    reserved_hosts.push_back(*host);
    open_host(*host);
  }
  const TenantIndex* tenant = input.tenant_id ? tenants.find(*input.tenant_id) : nullptr;
  if (!tenant) {
    return;  // Every step tries to use a slot of the total. Or the tenant has no lanes now.
  }
  reserved_tenants.push_back(*tenant);
  if (tenants.at(*tenant).parked != Parked::no) {
    unpark(*tenant);
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

void ShardState::save_circuit(const Lane& lane, const CircuitRecord& before) {
  const CircuitRecord& record = lane.breaker().record();
  if (record == before) {
    return;
  }
  SaveCircuit save{.webhook_id = lane.webhook().id, .record = record};
  if (const std::optional<OpenPeriod> period = changed_period(before, record)) {
    save.periods.push_back(*period);
  }
  commands.emplace_back(std::move(save));
}

void ShardState::circuit_changed(const Lane& lane, const CircuitRecord& before) {
  const CircuitRecord& record = lane.breaker().record();
  if (record == before || lane.removed()) {
    return;
  }
  const WebhookId webhook_id = lane.webhook().id;
  save_circuit(lane, before);
  // One alert per outage, however often a probe fails and the circuit opens again.
  if (before.state == CircuitState::closed && record.state == CircuitState::open) {
    commands.emplace_back(circuit_opened_alert(lane.webhook(), lane.breaker(), now.wall));
  } else if (before.state != CircuitState::closed && record.state == CircuitState::closed) {
    commands.emplace_back(
        RaiseAlert{.kind = AlertKind::circuit_recovered,
                   .webhook_id = webhook_id,
                   .detail = "The receiver answers again. Waiting deliveries are being sent."});
  }
}

}  // namespace postrider
