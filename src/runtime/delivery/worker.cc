#include "runtime/delivery/worker.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <spdlog/spdlog.h>

#include "core/base/assert.h"

namespace postrider {
namespace {

namespace asio = boost::asio;

thread_local Worker* current_worker = nullptr;

}  // namespace

Worker::Worker(WorkerOptions options, WorkerParts parts)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      work_(asio::make_work_guard(io_)),
      alarm_(io_),
      shard_(options_.shard, options_.seed, *parts_.allowance),
      payloads_(options_.payload_cache_bytes),
      meter_(parts_.metrics->make_attempt_meter()),
      watches_(io_),
      alert_rules_(options_.alerts) {}

Worker::~Worker() { stop(); }

Result<void> Worker::open() {
  POSTRIDER_TRY(transport_, parts_.make_transport(io_, *parts_.clock));
  return {};
}

void Worker::start() {
  POSTRIDER_ASSERT(transport_ != nullptr);
  thread_ = std::thread{[this] {
    current_worker = this;
    io_.run();
  }};
}

void Worker::stop() {
  io_.stop();
  if (thread_.joinable()) {
    thread_.join();
  }
}

Worker* Worker::current() { return current_worker; }

void Worker::receive(ShardReplies replies) {
  asio::post(io_, [this, replies = std::move(replies)]() mutable {
    for (EventRef& event : replies.events) {
      payloads_.put(std::move(event));
    }
    for (Input& input : replies.inputs) {
      feed(std::move(input));
    }
    for (std::function<void()>& completion : replies.completions) {
      completion();
    }
  });
}

void Worker::drain() { feed_later(DrainRequested{}); }

void Worker::abandon() {
  asio::post(io_, [this] {
    abandoning_ = true;
    transport_->stop();
  });
}

void Worker::run_on_shard(std::function<void(Shard&, Moment)> act) {
  asio::post(io_, [this, act = std::move(act)] { act(shard_, parts_.clock->now()); });
}

void Worker::feed_later(Input input) {
  asio::post(io_, [this, input = std::move(input)]() mutable { feed(std::move(input)); });
}

void Worker::change_url_policy(UrlPolicy policy) {
  asio::post(io_, [this, policy = std::move(policy)]() mutable {
    transport_->change_addresses(policy.addresses);
    options_.url_policy = std::move(policy);
  });
}

void Worker::probe(Probe probe) {
  const Moment now = parts_.clock->now();
  const Result<Target> target = make_target(std::move(probe.webhook), target_options());
  if (!target) {
    Outcome blocked;
    blocked.failure = FailureCategory::blocked_address;
    blocked.error_message = target.error().message;
    blocked.executed_at = now.wall;
    asio::post(io_, [done = std::move(probe.done), blocked] { done(blocked); });
    return;
  }
  // No delivery stands behind it: what would name one names the event.
  const AttemptStamp stamp{
      .delivery_id = DeliveryId{probe.event.id.bytes}, .attempt_number = 1, .now = now.wall};
  OutboundRequest request{.url = target->url,
                          .bytes = target->request->fill(probe.event, stamp, target->signs),
                          .timeout = probe.timeout};
  transport_->send(std::move(request), std::move(probe.done));
}

void Worker::send_test(TestSend test) {
  asio::post(io_, [this, test = std::move(test)]() mutable {
    const DeliveryId id = test.publish.deliveries.front().id;
    watches_.add(id, test.patience, std::move(test.done));
    PublishJob job{.publishes = {}, .origin = options_.index, .done = {}};
    job.publishes.push_back(std::move(test.publish));
    job.done = [this, id](const Result<std::vector<PublishReceipt>>& receipts) {
      if (!receipts) {
        watches_.fail(id, receipts.error());
      }
    };
    if (!parts_.store->try_publish(std::move(job))) {
      watches_.fail(
          id,
          Error{Errc::unavailable, "The server has more to store than it can. Retry soon.", {}});
    }
  });
}

void Worker::feed(Input input) {
  if (const auto* changed = std::get_if<WebhookChanged>(&input)) {
    remember(*changed);
  } else if (const auto* removed = std::get_if<WebhookRemoved>(&input)) {
    circuits_.erase(removed->webhook_id);
    targets_.erase(removed->webhook_id);
    alert_rules_.forget(removed->webhook_id);
    parts_.metrics->webhook_removed(removed->webhook_id);
  } else if (const auto* settled = std::get_if<Settled>(&input)) {
    watches_.settled(*settled);
  } else if (std::holds_alternative<DrainRequested>(input)) {
    // What has not been sent by now will not be, and people should not wait for it.
    watches_.fail_all(Error{Errc::unavailable, "The server is shutting down.", {}});
  }
  Commands commands = shard_.step(std::move(input), parts_.clock->now());
  for (Command& command : commands) {
    perform(std::move(command));
  }
  flush_soon();
}

void Worker::remember(const WebhookChanged& changed) {
  const Webhook& webhook = *changed.webhook;
  if (changed.circuit) {
    circuits_[webhook.id] = changed.circuit->state;
    watch_circuit(webhook.id, *changed.circuit);
  }
  Result<Target> target = make_target(changed.webhook, target_options());
  if (!target) {
    spdlog::warn("webhook.unusable webhook={} reason=\"{}\"", webhook.id.to_string(),
                 log_safe(target.error().message));
    targets_.erase(webhook.id);
    return;
  }
  targets_[webhook.id] = std::make_unique<Target>(*std::move(target));
}

TargetOptions Worker::target_options() const {
  return {.url_policy = options_.url_policy,
          .user_agent = options_.user_agent,
          .make_sign = parts_.make_sign};
}

void Worker::perform(Command command) {
  std::visit([this](auto&& each) { perform(std::forward<decltype(each)>(each)); },
             std::move(command));
}

void Worker::perform(StartAttempt command) {
  if (const EventRef event = payloads_.find(command.delivery.event_id)) {
    send(command, event);
  } else {
    payloads_missing_.push_back(std::move(command));
  }
}

void Worker::send(const StartAttempt& command, const EventRef& event) {
  const WebhookId webhook_id = command.delivery.webhook_id;
  const DeliveryId delivery_id = command.delivery.id;
  const auto found = targets_.find(webhook_id);
  if (abandoning_) {
    feed_later(AttemptAbandoned{webhook_id, delivery_id});
    return;
  }
  const Moment now = parts_.clock->now();
  if (found == targets_.end()) {
    Outcome blocked;
    blocked.failure = FailureCategory::blocked_address;
    blocked.error_message = "This server's address policy no longer allows the webhook's URL.";
    blocked.executed_at = now.wall;
    feed_later(AttemptFinished{webhook_id, delivery_id, std::move(blocked)});
    return;
  }
  const Target& target = *found->second;
  const AttemptStamp stamp{
      .delivery_id = delivery_id, .attempt_number = command.attempt_number, .now = now.wall};
  OutboundRequest request{.url = target.url,
                          .bytes = target.request->fill(*event, stamp, target.signs),
                          .timeout = command.timeout};
  auto done = [this, webhook_id, delivery_id, shape = target.kept_shape(),
               sent_at = now.wall](Outcome outcome) mutable {
    if (abandoning_) {
      feed(AttemptAbandoned{webhook_id, delivery_id});
      return;
    }
    outcome.executed_at = sent_at;  // As the request itself says: it is told again from this.
    feed(AttemptFinished{webhook_id, delivery_id, std::move(outcome), std::move(shape)});
  };
  transport_->send(std::move(request), std::move(done));
}

void Worker::perform(Settle command) {
  const Settlement& settlement = command.settlement;
  if (settlement.attempt && !command.again) {
    const auto target = targets_.find(settlement.delivery.webhook_id);
    const std::string_view tenant_id =
        target == targets_.end() ? std::string_view{} : target->second->webhook->tenant_id;
    meter_->record({.state = settlement.delivery.state,
                    .failure = settlement.attempt->failure_category,
                    .event_type = settlement.delivery.event_type,
                    .tenant_id = tenant_id,
                    .number = settlement.attempt->number,
                    .duration = settlement.attempt->outcome.duration});
    log_attempt(settlement);
    watches_.attempted(settlement);
    watch_attempt(settlement);
  } else if (settlement.dead && !command.again) {
    note_given_up(settlement);
  }
  settlements_.push_back(std::move(command.settlement));
}

void Worker::perform(LoadLane command) {
  parts_.store->submit(LoadLaneJob{.worker = options_.index, .query = command});
}

void Worker::perform(Reschedule command) {
  flush_settlements();  // Those were planned by the policy before: they are brought forward, too.
  parts_.reschedule(command.webhook_id);
}

void Worker::perform(SetAlarm command) {
  const Micros wait = std::max(command.at - parts_.clock->now().mono, Micros{0});
  alarm_.expires_after(wait);
  alarm_.async_wait([this](const boost::system::error_code& error) {
    if (!error) {
      feed(AlarmRang{});
    }
  });
}

void Worker::perform(SaveCircuit command) {
  const CircuitState to = command.record.state;
  CircuitState& from = circuits_[command.webhook_id];
  watch_circuit(command.webhook_id, command.record);
  if (from != to) {
    parts_.metrics->circuit_changed(command.webhook_id, from, to);
    if (parts_.stream->is_wanted()) {
      tell(command.webhook_id, CircuitUpdate{from, to});
    }
    from = to;
  }
  unsaved_circuits_.insert_or_assign(command.webhook_id, std::move(command));
}

void Worker::perform(DisableWebhook command) {
  parts_.disable_webhook(command.webhook_id, command.reason);
}

void Worker::perform(RaiseAlert command) {
  parts_.metrics->alert_raised(command.kind);
  spdlog::warn("alert kind={} webhook={} detail=\"{}\"", to_string(command.kind),
               command.webhook_id.to_string(), log_safe(command.detail));
  if (parts_.stream->is_wanted()) {
    tell(command.webhook_id, AlertUpdate{command.kind, command.detail});
  }
  const bool recovered = command.kind == AlertKind::circuit_recovered;
  parts_.alert(
      {.subject = {recovered ? AlertKind::circuit_opened : command.kind, command.webhook_id},
       .active = !recovered,
       .detail = std::move(command.detail)});
}

/// Of a webhook whose owner is not known nothing is told: it would reach the wrong one (P11).
void Worker::tell(WebhookId id, std::variant<DeliveryUpdate, CircuitUpdate, AlertUpdate> what) {
  const auto target = targets_.find(id);
  if (target != targets_.end()) {
    parts_.stream->tell({.at = parts_.clock->now().wall,
                         .webhook_id = id,
                         .tenant_id = target->second->webhook->tenant_id,
                         .what = std::move(what)});
  }
}

void Worker::perform(Drained) {
  flush_circuits();
  parts_.drained();
}

void Worker::flush_soon() {
  if (!flush_scheduled_) {
    flush_scheduled_ = true;
    // Behind everything that is ready now, so that the batch is as large as the load makes it.
    asio::post(io_, [this] { flush(); });
  }
}

/// A webhook that fails every other time has a new record with every attempt: once a flush is
/// enough.
void Worker::flush_circuits() {
  for (auto& [id, command] : std::exchange(unsaved_circuits_, {})) {
    parts_.store->submit(CircuitJob{std::move(command)});
  }
}

void Worker::flush_settlements() {
  if (!settlements_.empty()) {
    parts_.store->submit(
        SettleJob{.worker = options_.index, .settlements = std::exchange(settlements_, {})});
  }
}

void Worker::flush() {
  flush_scheduled_ = false;
  flush_circuits();
  flush_settlements();
  if (!payloads_missing_.empty()) {
    std::vector<EventId> ids;
    for (const StartAttempt& start : payloads_missing_) {
      ids.push_back(start.delivery.event_id);
    }
    auto done = [this, waiting = std::exchange(payloads_missing_, {})](
                    Result<std::vector<Event>> events) mutable {
      events_loaded(std::move(events), std::move(waiting));
    };
    parts_.store->submit(
        LoadEventsJob{.worker = options_.index, .ids = std::move(ids), .done = std::move(done)});
  }
  parts_.metrics->shard_seen(options_.index, shard_.view(), options_.shard.in_flight_max);
}

void Worker::events_loaded(Result<std::vector<Event>> events, std::vector<StartAttempt> waiting) {
  // Held here as well: the cache may be too small for all of them at once.
  std::unordered_map<EventId, EventRef> loaded;
  if (events) {
    for (Event& event : *events) {
      const auto shared = std::make_shared<const Event>(std::move(event));
      loaded.emplace(shared->id, shared);
      payloads_.put(shared);
    }
  }
  for (const StartAttempt& start : waiting) {
    const auto found = loaded.find(start.delivery.event_id);
    if (found != loaded.end()) {
      send(start, found->second);
    } else {
      feed(AttemptAbandoned{start.delivery.webhook_id, start.delivery.id});
    }
  }
}

}  // namespace postrider
