#include "runtime/delivery/shard_host.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/overloaded.h"

namespace postrider {
namespace {

Outcome blocked(std::string message, WallTime now) {
  Outcome outcome;
  outcome.failure = FailureCategory::blocked_address;
  outcome.error_message = std::move(message);
  outcome.executed_at = now;
  return outcome;
}

}  // namespace

ShardHost::ShardHost(ShardHostOptions options, ShardHostParts parts)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      shard_(options_.shard, options_.seed, parts_.allowance),
      observer_(parts_.clock, parts_.metrics, parts_.stream),
      events_(options_.payload_cache_bytes),
      alert_rules_(options_.alerts) {}

void ShardHost::receive(ShardReplies replies) {
  for (EventRef& event : replies.events) {
    events_.put(std::move(event));
  }
  for (Input& input : replies.inputs) {
    feed(std::move(input));
  }
  for (const std::function<void()>& completion : replies.completions) {
    completion();
  }
}

void ShardHost::feed(Input input) {
  if (parts_.trace) {
    parts_.trace->before_step(input);
  }
  prepare(input);
  Commands commands = shard_.step(std::move(input), parts_.clock.now());
  if (parts_.trace) {
    parts_.trace->after_step(commands);
  }
  for (Command& command : commands) {
    std::visit([this](auto& each) { perform(std::move(each)); }, command);
  }
  flush_soon();
  end_attempts();
}

void ShardHost::feed_later(Input input) {
  parts_.loop.post([this, input = std::move(input)]() mutable { feed(std::move(input)); });
}

/// Brings the host's own tables up to date before the shard reacts.
void ShardHost::prepare(const Input& input) {
  const auto act = Overloaded{
      [this](const WebhookChanged& changed) { remember(changed); },
      [this](const WebhookRemoved& removed) {
        if (!removed.handed_over) {  // Otherwise attempts may still need it.
          forget(removed.webhook_id);
        }
      },
      [this](const LaneLoaded& page) { events_.read_ahead(page.deliveries); },
      [this](const Settled& settled) { waiters_.settled(settled); },
      [this](const DrainRequested&) {
        // Nothing more is sent, so nobody should wait for it.
        waiters_.fail_all(Error{Errc::unavailable, "The server is shutting down."});
      },
      // These concern the shard alone.
      [](const Admitted&) {},
      [](const LaneLoadFailed&) {},
      [](const AttemptFinished&) {},
      [](const AttemptAbandoned&) {},
      [](const StoreFailed&) {},
      [](const Rescheduled&) {},
      [](const TenantSuspension&) {},
      [](const TenantLimited&) {},
      [](const DeliveryCancelled&) {},
      [](const CircuitCommanded&) {},
      [](const SlotReserved&) {},
      [](const ShardAcquired&) {},
      [](const ShardLost&) {},
      [](const AlarmRang&) {},
  };
  std::visit(act, input);
}

void ShardHost::remember(const WebhookChanged& changed) {
  const Webhook& webhook = *changed.webhook;
  if (options_.shard.leased) {
    const ShardNumber part = shard_of(webhook.id);
    if (!shard_.works(part) && !shard_.has_lane(webhook.id)) {
      return;  // The shard ignores it too.
    }
    webhooks_[part].insert(webhook.id);
  }
  if (changed.circuit) {
    circuits_[webhook.id] = changed.circuit->state;
    observer_.circuit_restored(webhook.id, changed.circuit->state);
    watch_circuit(webhook.id, *changed.circuit);
  }
  Result<Target> target = make_target(changed.webhook, target_options());
  if (!target) {
    observer_.webhook_unusable(webhook.id, target.error());
    targets_.erase(webhook.id);
    return;
  }
  targets_[webhook.id] = std::make_unique<Target>(*std::move(target));
}

void ShardHost::forget(WebhookId id) {
  if (const auto part = webhooks_.find(shard_of(id)); part != webhooks_.end()) {
    part->second.erase(id);
  }
  circuits_.erase(id);
  targets_.erase(id);
  alert_rules_.forget(id);
  observer_.webhook_removed(id);
}

/// Alerts are not resolved by this: the next owner of the part continues them.
void ShardHost::forget_part(ShardNumber shard) {
  auto webhooks = webhooks_.extract(shard);
  if (!webhooks.empty()) {
    for (const WebhookId id : webhooks.mapped()) {
      forget(id);
    }
  }
  waiters_.handed_back(shard);
}

const Target* ShardHost::find_target(WebhookId id) const {
  const auto found = targets_.find(id);
  return found == targets_.end() ? nullptr : found->second.get();
}

const Webhook* ShardHost::find_webhook(WebhookId id) const {
  const Target* target = find_target(id);
  return target ? target->webhook.get() : nullptr;
}

TargetOptions ShardHost::target_options() const {
  return {.url_policy = options_.url_policy,
          .user_agent = options_.user_agent,
          .make_sign = parts_.make_sign};
}

void ShardHost::change_url_policy(UrlPolicy policy) {
  parts_.transport.change_addresses(policy.addresses);
  options_.url_policy = std::move(policy);
}

void ShardHost::abandon() {
  abandoning_ = true;
  parts_.transport.stop();
}

// ---------------------------------------------------------------- attempts

void ShardHost::perform(StartAttempt command) {
  if (const EventRef event = events_.find(command.delivery.event_id)) {
    send(command, event);
  } else {
    events_.wait_for_event(std::move(command));
  }
}

void ShardHost::send(const StartAttempt& command, const EventRef& event) {
  const WebhookId webhook_id = command.delivery.webhook_id;
  const DeliveryId delivery_id = command.delivery.id;
  if (abandoning_) {
    feed_later(AttemptAbandoned{webhook_id, delivery_id});
    return;
  }
  const Moment moment = parts_.clock.now();
  const ShardNumber part = shard_of(webhook_id);
  if (parts_.permit && !parts_.permit->may_send(part)) {
    feed_later(AttemptAbandoned{
        .webhook_id = webhook_id, .delivery_id = delivery_id, .not_permitted = true});
    return;
  }
  const WallTime now = moment.wall;
  const Target* target = find_target(webhook_id);
  if (!target) {
    feed_later(AttemptFinished{
        webhook_id, delivery_id,
        blocked("This server's address policy no longer allows the webhook's URL.", now)});
    return;
  }
  const AttemptStamp stamp{
      .delivery_id = delivery_id, .attempt_number = command.attempt_number, .now = now};
  OutboundRequest request{.url = target->url,
                          .bytes = target->request->fill(*event, stamp, target->signs),
                          .timeout = command.timeout,
                          .group = part};
  auto done = [this, webhook_id, delivery_id, shape = target->stored_shape(),
               now](Outcome outcome) mutable {
    if (abandoning_ || ended_ == shard_of(webhook_id)) {
      feed(AttemptAbandoned{webhook_id, delivery_id});
      return;
    }
    if (outcome.shortage != Shortage::none) {
      parts_.metrics.attempt_postponed();
      feed(AttemptAbandoned{webhook_id, delivery_id, outcome.shortage});
      return;
    }
    outcome.executed_at = now;  // The time in the request, which is rebuilt from this record.
    feed(AttemptFinished{webhook_id, delivery_id, std::move(outcome), std::move(shape)});
  };
  parts_.transport.send(std::move(request), std::move(done));
}

void ShardHost::probe(Probe probe) {
  const WallTime now = parts_.clock.now().wall;
  const Result<Target> target = make_target(std::move(probe.webhook), target_options());
  if (!target) {
    parts_.loop.post([done = std::move(probe.done),
                      outcome = blocked(target.error().message, now)] { done(outcome); });
    return;
  }
  // There is no delivery. The event's id takes the place of the delivery's.
  const AttemptStamp stamp{
      .delivery_id = DeliveryId{probe.event.id.bytes}, .attempt_number = 1, .now = now};
  OutboundRequest request{.url = target->url,
                          .bytes = target->request->fill(probe.event, stamp, target->signs),
                          .timeout = probe.timeout,
                          .group = shard_count};  // Of no part.
  parts_.transport.send(std::move(request), std::move(probe.done));
}

void ShardHost::events_loaded(const EventLoads::Load& load, Result<std::vector<Event>> events) {
  for (const auto& [start, event] : events_.arrived(load, std::move(events))) {
    if (event) {
      send(start, event);
    } else {
      feed(AttemptAbandoned{start.delivery.webhook_id, start.delivery.id});
    }
  }
  flush_soon();
}

/// Behind the commands of the step, because `done` feeds the shard.
void ShardHost::end_attempts() {
  for (const ShardNumber part : std::exchange(ending_, {})) {
    ended_ = part;
    parts_.transport.end(part);
    ended_.reset();
    for (const StartAttempt& start : events_.take_waiting(part)) {
      feed(AttemptAbandoned{start.delivery.webhook_id, start.delivery.id});
    }
  }
}

void ShardHost::await_attempt(const LaneDelivery& delivery, Millis patience,
                              AttemptWaiters::Done done) {
  waiters_.add(delivery, parts_.clock.now().mono + patience, std::move(done));
  arm_alarm();
}

// ---------------------------------------------------------------- the other commands

void ShardHost::perform(Settle command) {
  const Settlement& settlement = command.settlement;
  // One that is repeated after a store failure has been counted and logged already.
  if (settlement.attempt && !command.is_resubmission) {
    observer_.attempted(settlement, find_webhook(settlement.delivery.webhook_id));
    waiters_.attempted(settlement);
    watch_attempt(settlement);
  } else if (settlement.dead && !command.is_resubmission) {
    observer_.given_up(settlement);
    watch_attempt(settlement);
  } else if (!command.is_resubmission) {
    observer_.cancelled();
  }
  if (parts_.tracer && !command.is_resubmission && is_traced(settlement)) {
    trace(settlement);
  }
  settlements_.push_back(std::move(command.settlement));
}

void ShardHost::perform(const LoadLane& command) { parts_.store.load_lane(command); }

void ShardHost::perform(const Reschedule& command) {
  // Those were planned by the old policy, so they must be stored before the rescheduling.
  flush_settlements();
  parts_.owner.reschedule(command.webhook_id);
}

void ShardHost::perform(const SetAlarm& command) {
  shard_alarm_ = command.at;
  arm_alarm();
}

void ShardHost::perform(SaveCircuit command) {
  const WebhookId id = command.webhook_id;
  const CircuitState to = command.record.state;
  CircuitState& from = circuits_[id];
  watch_circuit(id, command.record);
  if (from != to) {
    observer_.circuit_changed(id, {from, to}, find_webhook(id));
    from = to;
    if (to == CircuitState::closed) {
      end_outage(id);
    }
  }
  if (const auto unsaved = unsaved_circuits_.find(id); unsaved != unsaved_circuits_.end()) {
    add_unsaved_periods(command, unsaved->second);
  }
  unsaved_circuits_.insert_or_assign(id, std::move(command));
}

void ShardHost::perform(const DisableWebhook& command) {
  parts_.owner.disable_webhook(command.webhook_id, command.reason);
}

void ShardHost::perform(RaiseAlert command) {
  observer_.alert_raised(command, find_webhook(command.webhook_id));
  if (command.kind == AlertKind::circuit_recovered) {
    return;  // SaveCircuit has ended the outage.
  }
  parts_.owner.alert_changed({.subject = {command.kind, command.webhook_id},
                              .active = true,
                              .detail = std::move(command.detail),
                              .measure = command.measure});
}

void ShardHost::perform(const EndAttempts& command) { ending_.push_back(command.shard); }

void ShardHost::perform(const CircuitCommandReturned& command) {
  parts_.owner.circuit_command_returned(command.command);
}

void ShardHost::perform(const ShardHandedBack& command) {
  flush_circuits();
  flush_settlements();
  forget_part(command.shard);
  parts_.owner.shard_handed_back(command.shard);
}

void ShardHost::perform(const Drained&) {
  flush_circuits();
  parts_.owner.shard_drained();
}

// ---------------------------------------------------------------- time

/// The loop has one alarm. The shard and the waiters share it.
void ShardHost::arm_alarm() {
  std::optional<MonoTime> at = waiters_.next_deadline();
  if (shard_alarm_) {
    at = at ? std::min(*at, *shard_alarm_) : *shard_alarm_;
  }
  if (at) {
    parts_.loop.set_alarm(*at);
  }
}

void ShardHost::ring_alarm() {
  shard_alarm_.reset();
  waiters_.expire(parts_.clock.now().mono);
  feed(AlarmRang{});  // The shard sets its alarm again if this was early.
  if (!shard_alarm_) {
    arm_alarm();
  }
}

// ---------------------------------------------------------------- alerts

void ShardHost::check_alerts() {
  for (const AlertChange& change : alert_rules_.evaluate(parts_.clock.now().steady)) {
    parts_.owner.alert_changed(change);
  }
}

void ShardHost::watch_attempt(const Settlement& settlement) {
  const std::optional<FailureCategory> failure =
      settlement.attempt ? settlement.attempt->failure_category : std::nullopt;
  const AttemptSummary summary{
      .webhook_id = settlement.delivery.webhook_id,
      .failed = failure.has_value(),
      .dns_failed = failure == FailureCategory::dns,
      .dead = settlement.dead.has_value(),
      .attempted = settlement.attempt.has_value(),
      .delivery_id = settlement.delivery.id,
      .dead_reason = settlement.dead ? settlement.dead->reason : std::string_view{},
      .attempts = settlement.delivery.attempt_count,
      .last_error = settlement.dead && failure
                        ? short_failure(settlement.attempt->outcome, *failure)
                        : std::string{}};
  for (const AlertChange& change : alert_rules_.on_attempt(summary, parts_.clock.now().steady)) {
    parts_.owner.alert_changed(change);
  }
}

void ShardHost::trace(const Settlement& settlement) {
  TracedReceiver receiver;
  if (const Target* target = find_target(settlement.delivery.webhook_id)) {
    receiver = {.tenant_id = target->webhook->tenant_id,
                .host = target->url.host,
                .port = target->url.port};
  }
  parts_.tracer->settled(settlement, receiver);
}

/// A change in the future was stored by a wrong clock. It counts from now.
void ShardHost::watch_circuit(WebhookId id, const CircuitRecord& record) {
  const WallTime now = parts_.clock.now().steady;
  alert_rules_.on_circuit(id, record.state, std::min(record.changed_at, now));
}

/// Whatever closed the circuit: its next opening is another outage.
void ShardHost::end_outage(WebhookId id) {
  parts_.owner.alert_changed(
      {.subject = {AlertKind::circuit_opened, id}, .active = false, .detail = {}});
}

// ---------------------------------------------------------------- batches for the store

void ShardHost::flush_soon() {
  if (!flush_scheduled_) {
    flush_scheduled_ = true;
    // Behind everything that is ready now, so that batches grow with the load.
    parts_.loop.post([this] { flush(); });
  }
}

void ShardHost::flush() {
  flush_scheduled_ = false;
  flush_circuits();
  flush_settlements();
  flush_event_loads();
  observer_.rate_limits_used(shard_.take_rate_limit_uses());
  observer_.tenant_loads_changed(shard_.take_tenant_load_changes());
  observer_.shard_seen(options_.index, shard_.view(), parts_.allowance.in_flight_max());
}

/// A webhook that fails every other time gets a new record with every attempt. Saving the latest
/// once per flush is enough.
void ShardHost::flush_circuits() {
  for (auto& [id, command] : std::exchange(unsaved_circuits_, {})) {
    parts_.store.save_circuit(std::move(command));
  }
}

void ShardHost::flush_settlements() {
  if (!settlements_.empty()) {
    parts_.store.settle(std::exchange(settlements_, {}));
  }
}

void ShardHost::flush_event_loads() {
  EventLoads::Load load = events_.take();
  if (load.ids.empty()) {
    return;
  }
  std::vector<EventId> ids = load.ids;
  parts_.store.load_events(std::move(ids),
                           [this, load = std::move(load)](Result<std::vector<Event>> events) {
                             events_loaded(load, std::move(events));
                           });
}

}  // namespace postrider
