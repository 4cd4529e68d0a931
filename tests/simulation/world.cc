#include "tests/simulation/world.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/assert.h"
#include "engine/intake.h"

#include "runtime/operation_step.h"

#include "tests/simulation/network.h"
#include "tests/simulation/trace.h"

namespace postrider::sim {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Micros drain_deadline = minutes{1};  // Longer than any attempt here takes.
constexpr Micros rest_max = hours{96};         // A day's jump back, at half speed, and some.

class World {
 public:
  World(const Scenario& scenario, std::function<void(const std::string&)> log);

  RunResult run();

 private:
  // The node's life.
  void boot();
  void crash();
  void begin_drain();
  void end_drain(std::uint64_t life);
  void feed(std::size_t shard, Input input);
  void tell(WebhookId webhook_id, Input input);
  void recovered(const std::vector<LaneBacklog>& backlog);
  [[nodiscard]] std::size_t shard_of(WebhookId id) const {
    return stable_hash(id.bytes) % scenario_.shard_count;
  }

  // Its commands.
  void perform(std::size_t shard, const Command& command);
  void start(std::size_t shard, const StartAttempt& command);
  void set_alarm(std::size_t shard, MonoTime at);
  void reschedule(WebhookId id);

  // Everybody else.
  void schedule_everything();
  void publish(Event draft, bool keyed);
  void change_something();
  void replay(WebhookId id);
  void change_webhook(WebhookId id, const std::function<void(Webhook&)>& edit);
  void remove_webhook(WebhookId id);
  void cancel_waiting(WebhookId id);
  void jump_clock();
  void calm_down();
  [[nodiscard]] bool at_rest() const;

  [[nodiscard]] Micros sometime() {
    return Micros{static_cast<std::int64_t>(
        random_.below(static_cast<std::uint64_t>(scenario_.trouble_time.count())))};
  }
  /// What passing a word from thread to thread takes.
  [[nodiscard]] Micros some_moment() {
    return Micros{static_cast<std::int64_t>(random_.below(200))};
  }
  template <class Act>
  void in_this_life(Micros delay, Act act) {
    timeline_.after(delay, [this, life = life_, act = std::move(act)] {
      if (life == life_ && up_) {
        act();
      }
    });
  }
  void note(const std::string& line);

  Scenario scenario_;
  std::function<void(const std::string&)> log_;
  SplitMix64 random_;
  Timeline timeline_;
  MemoryStore durable_;
  Checks checks_;
  SimStore store_;
  UuidMaker ids_;

  std::unique_ptr<SharedAllowance> allowance_;
  std::vector<Shard> shards_;
  std::vector<std::uint64_t> alarms_;  // Which alarm of a shard is the latest.
  Directory directory_;
  std::uint64_t life_ = 0;
  bool up_ = false;
  bool draining_ = false;
  bool calm_ = false;
  std::size_t drained_count_ = 0;
  std::size_t in_flight_ = 0;
  std::uint64_t trace_hash_ = 14695981039346656037ull;
  std::uint64_t attempts_ = 0;
  std::uint64_t acknowledged_ = 0;
};

World::World(const Scenario& scenario, std::function<void(const std::string&)> log)
    : scenario_(scenario),
      log_(std::move(log)),
      random_(scenario.seed ^ 0x5eedull),
      checks_(scenario_, durable_, timeline_),
      store_(durable_,
             {.timeline = &timeline_,
              .random = &random_,
              .scenario = &scenario_,
              .tell = [this](WebhookId id, Input input) { tell(id, std::move(input)); },
              .webhook = [this](WebhookId id) { return directory_.find(id); },
              .rescheduled = [this](WebhookId id) { checks_.check_waits(id); },
              .revived = [this](const Delivery& delivery) { checks_.revival_stored(delivery.id); },
              .recovered = [this](const auto& backlog) { recovered(backlog); }}),
      ids_(scenario.seed + 1) {
  for (const Receiver& receiver : scenario_.receivers) {
    durable_.webhooks.emplace(receiver.webhook.id, receiver.webhook);
  }
}

void World::note(const std::string& line) {
  for (const char character : line) {
    trace_hash_ = (trace_hash_ ^ static_cast<unsigned char>(character)) * 1099511628211ull;
  }
  if (log_) {
    log_(fmt::format("{:>14} {}", timeline_.mono().time_since_epoch().count(), line));
  }
}

// ------------------------------------------------------------------ the node's life

void World::boot() {
  note("boot");
  timeline_.forget_wall();
  ++life_;
  up_ = true;
  draining_ = false;
  drained_count_ = 0;
  in_flight_ = 0;
  shards_.clear();
  allowance_ = std::make_unique<SharedAllowance>(
      limits_of(scenario_.shard), scenario_.shard_count,
      [this](std::size_t shard, std::optional<TenantId> tenant_id) {
        in_this_life(some_moment(), [this, shard, tenant_id] { feed(shard, SlotKept{tenant_id}); });
      });
  for (std::size_t shard = 0; shard < scenario_.shard_count; ++shard) {
    shards_.emplace_back(scenario_.shard, scenario_.seed + life_ * 100 + shard,
                         allowance_->of(shard));
  }
  alarms_.assign(scenario_.shard_count, 0);
  std::vector<WebhookRef> webhooks;
  for (const auto& [id, webhook] : durable_.webhooks) {
    webhooks.push_back(std::make_shared<const Webhook>(webhook));
  }
  directory_ = Directory{webhooks};
  const auto backlog = make_memory_ledger(durable_)->backlog();
  for (const WebhookRef& webhook : webhooks) {
    WebhookChanged changed{.webhook = webhook, .at_start = true};
    if (const auto circuit = durable_.circuits.find(webhook->id);
        circuit != durable_.circuits.end()) {
      changed.circuit = circuit->second;
    }
    for (const LaneBacklog& lane : *backlog) {
      if (lane.webhook_id == webhook->id) {
        changed.backlog_due = lane.due;
      }
    }
    tell(webhook->id, std::move(changed));
  }
  for (const LaneBacklog& lane : *backlog) {
    if (!directory_.find(lane.webhook_id)) {
      cancel_waiting(lane.webhook_id);
    }
  }
  for (const WebhookId id : durable_.rescheduling) {
    reschedule(id);
  }
}

void World::crash() {
  if (!up_) {
    return;
  }
  note("crash");
  up_ = false;
  ++life_;
  store_.crash();
  shards_.clear();
  checks_.crashed();
  checks_.check_store();
  timeline_.after(Micros{static_cast<std::int64_t>(random_.below(5'000'000))}, [this] { boot(); });
}

void World::begin_drain() {
  if (!up_ || draining_) {
    return;
  }
  note("drain");
  draining_ = true;
  const std::uint64_t life = life_;
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    feed(shard, DrainRequested{});
  }
  timeline_.after(drain_deadline, [this, life] { end_drain(life); });
}

void World::end_drain(std::uint64_t life) {
  if (life != life_ || !up_) {
    return;
  }
  if (drained_count_ < shards_.size() && scenario_.commit_fails == 0) {
    checks_.drained({.in_flight = 1});  // Every attempt has timed out long ago.
  }
  crash();  // From here on it is the same: the process is gone.
}

void World::feed(std::size_t shard, Input input) {
  const Commands commands = shards_[shard].step(std::move(input), timeline_.now());
  for (const Command& command : commands) {
    note(describe(command));
    if (const auto* started = std::get_if<StartAttempt>(&command)) {
      if (draining_) {
        checks_.drained({.in_flight = 1});
      }
      checks_.lane_seen(*shards_[shard].view(started->delivery.webhook_id, timeline_.now()), true);
    }
  }
  checks_.shard_seen(shards_[shard].view());
  for (const Command& command : commands) {
    perform(shard, command);
  }
}

void World::tell(WebhookId webhook_id, Input input) {
  if (!up_) {
    return;
  }
  if (const auto* admitted = std::get_if<Admitted>(&input)) {
    for (const Delivery& delivery : admitted->deliveries) {
      checks_.admitted(delivery);
    }
  } else if (const auto* changed = std::get_if<WebhookChanged>(&input)) {
    checks_.told(*changed->webhook);
  } else if (const auto* removed = std::get_if<WebhookRemoved>(&input)) {
    checks_.told_removed(removed->webhook_id);
  } else if (const auto* settled = std::get_if<Settled>(&input)) {
    checks_.settled(settled->deliveries.front().delivery_id);
  } else if (std::holds_alternative<StoreFailed>(input)) {
    checks_.trouble();
  }
  feed(shard_of(webhook_id), std::move(input));
}

void World::recovered(const std::vector<LaneBacklog>& backlog) {
  checks_.trouble();
  for (const LaneBacklog& lane : backlog) {
    if (const WebhookRef webhook = directory_.find(lane.webhook_id)) {
      tell(lane.webhook_id,
           WebhookChanged{.webhook = webhook, .circuit = {}, .backlog_due = lane.due});
    } else {
      cancel_waiting(lane.webhook_id);
    }
  }
}

// ------------------------------------------------------------------ its commands

void World::perform(std::size_t shard, const Command& command) {
  if (const auto* started = std::get_if<StartAttempt>(&command)) {
    start(shard, *started);
  } else if (const auto* settle = std::get_if<Settle>(&command)) {
    checks_.settling(settle->settlement.delivery.id);
    store_.submit(SimSettle{shard, settle->settlement});
  } else if (const auto* load = std::get_if<LoadLane>(&command)) {
    store_.submit(SimLoad{shard, *load});
  } else if (const auto* changed = std::get_if<Reschedule>(&command)) {
    reschedule(changed->webhook_id);
  } else if (const auto* alarm = std::get_if<SetAlarm>(&command)) {
    set_alarm(shard, alarm->at);
  } else if (const auto* save = std::get_if<SaveCircuit>(&command)) {
    store_.submit(SimCircuit{*save});
  } else if (const auto* disable = std::get_if<DisableWebhook>(&command)) {
    change_webhook(disable->webhook_id, [](Webhook& webhook) { webhook.active = false; });
  } else if (std::holds_alternative<Drained>(command)) {
    checks_.drained(shards_[shard].view());
    if (++drained_count_ == shards_.size()) {
      in_this_life(Micros{1}, [this, life = life_] { end_drain(life); });
    }
  }
}

void World::reschedule(WebhookId id) {
  const auto limit = static_cast<std::uint32_t>(1 + random_.below(20));
  store_.submit(
      SimReschedule{{.webhook_id = id, .policy = {}, .now = {}, .after = {}, .limit = limit}});
}

void World::start(std::size_t shard, const StartAttempt& command) {
  checks_.attempt_started(command);
  ++attempts_;
  ++in_flight_;
  const WebhookId webhook_id = command.delivery.webhook_id;
  const DeliveryId id = command.delivery.id;
  const auto ended = [this, shard, webhook_id, id](Input input) {
    --in_flight_;
    checks_.attempt_ended(id, std::holds_alternative<AttemptFinished>(input));
    feed(shard, std::move(input));
  };
  if (!calm_ && random_.below(100) == 0) {
    in_this_life(Micros{10}, [ended, webhook_id, id] { ended(AttemptAbandoned{webhook_id, id}); });
    return;
  }
  const auto receiver = std::ranges::find_if(
      scenario_.receivers, [&](const Receiver& each) { return each.webhook.id == webhook_id; });
  POSTRIDER_ASSERT(receiver != scenario_.receivers.end());
  Reply reply = reply_of(receiver->manners, command.timeout, random_);
  reply.outcome.executed_at = timeline_.now().wall;
  reply.outcome.duration = reply.delay;
  if (reply.accepted && reply.outcome.failure) {
    checks_.ambiguous(id);
  }
  if (reply.accepted) {
    // The receiver does not know whether we are still alive.
    timeline_.after(reply.delay / 2, [this, id] { checks_.accepted(id); });
  }
  in_this_life(reply.delay, [ended, webhook_id, id, outcome = reply.outcome] {
    ended(AttemptFinished{webhook_id, id, outcome});
  });
}

void World::set_alarm(std::size_t shard, MonoTime at) {
  const std::uint64_t number = ++alarms_[shard];
  in_this_life(std::max(at - timeline_.mono(), Micros{0}), [this, shard, number] {
    if (alarms_[shard] == number) {
      feed(shard, AlarmRang{});
    }
  });
}

// ------------------------------------------------------------------ everybody else

void World::schedule_everything() {
  for (std::uint32_t i = 0; i < scenario_.event_count; ++i) {
    Event draft;
    draft.tenant_id = fmt::format("tenant-{}", random_.below(3));
    draft.type = fmt::format("{}.{}", random_.below(2) == 0 ? "order" : "user", random_.below(3));
    draft.data = "{}";
    draft.priority = static_cast<Priority>(random_.below(3));
    draft.idempotency_key = fmt::format("key-{}", i);
    timeline_.after(sometime(),
                    [this, draft, keyed = random_.below(2) == 0] { publish(draft, keyed); });
  }
  for (std::uint32_t i = 0; i < scenario_.crashes; ++i) {
    timeline_.after(sometime(), [this] { crash(); });
  }
  for (std::uint32_t i = 0; i < scenario_.drains; ++i) {
    timeline_.after(sometime(), [this] { begin_drain(); });
  }
  for (std::uint32_t i = 0; i < scenario_.clock_jumps; ++i) {
    timeline_.after(sometime(), [this] { jump_clock(); });
  }
  for (std::uint32_t i = 0; i < scenario_.changes; ++i) {
    timeline_.after(sometime(), [this] { change_something(); });
  }
  timeline_.after(scenario_.trouble_time + 2 * drain_deadline, [this] { calm_down(); });
}

/// A publisher with a key tries again until it hears that the event is stored; one without gives up
/// when it cannot know.
void World::publish(Event draft, bool keyed) {
  if (!up_ || draining_ || store_.failing()) {
    timeline_.after(seconds{1}, [this, draft, keyed] { publish(draft, keyed); });
    return;
  }
  Event event = draft;
  event.created_at = timeline_.now().wall;
  event.timestamp = event.created_at;
  event.id = ids_.make<EventId>(event.created_at);
  const EventId id = event.id;
  const auto answered = std::make_shared<bool>(false);
  const auto again = [this, draft, keyed, answered] {
    if (!*answered && keyed) {
      *answered = true;
      publish(draft, keyed);
    }
  };
  Publish planned = plan_publish(std::move(event), directory_, ids_, timeline_.now().steady);
  if (keyed) {
    planned.claim = IdempotencyClaim{.key = draft.idempotency_key,
                                     .body_digest = draft.idempotency_key,
                                     .expires_at = planned.event.created_at + hours{24 * 30}};
  } else {
    planned.event.idempotency_key = id.to_string();
  }
  store_.submit(SimPublish{std::move(planned),
                           [this, id, answered, again](const Result<PublishReceipt>& receipt) {
                             if (!receipt) {
                               timeline_.after(seconds{1}, again);
                               return;
                             }
                             *answered = true;
                             ++acknowledged_;
                             const auto* duplicate = std::get_if<Duplicate>(&*receipt);
                             checks_.acknowledged(duplicate ? duplicate->first_id : id);
                           }});
  timeline_.after(seconds{10}, again);  // No answer: the server died.
}

void World::change_something() {
  if (!up_ || draining_) {
    return;
  }
  const Receiver& receiver = scenario_.receivers[random_.below(scenario_.receivers.size())];
  const WebhookId id = receiver.webhook.id;
  const auto some_delivery = [this]() -> const Delivery* {
    if (durable_.deliveries.empty()) {
      return nullptr;
    }
    auto found = durable_.deliveries.begin();
    std::advance(found, static_cast<std::ptrdiff_t>(random_.below(durable_.deliveries.size())));
    return &found->second.delivery;
  };
  const std::uint64_t what = random_.below(15);
  if (what >= 12) {
    const RetryPolicy policy = another_retry(random_);
    change_webhook(id, [policy](Webhook& webhook) { webhook.retry = policy; });
  } else if (what >= 10) {
    replay(id);
  } else if (what < 2) {
    if (const Delivery* delivery = some_delivery()) {
      checks_.revived(delivery->id);
      store_.submit(
          SimRevive{{.delivery_id = delivery->id, .now = timeline_.now().steady, .priority = {}}});
    }
  } else if (what < 3) {
    if (const Delivery* delivery = some_delivery()) {
      store_.submit(SimCancel{{.delivery_id = delivery->id, .now = timeline_.now().wall}});
    }
  } else if (!receiver.churned) {
    return;
  } else if (what < 6) {
    change_webhook(id, [](Webhook& webhook) { webhook.paused = !webhook.paused; });
  } else if (what < 9) {
    const auto action = static_cast<CircuitAction>(random_.below(3));
    tell(id,
         CircuitCommanded{id, action, Millis{static_cast<std::int64_t>(random_.below(60'000))}});
  } else if (random_.below(4) == 0) {
    remove_webhook(id);
  }
}

/// One chunk of a replay, from somewhere in the past.
void World::replay(WebhookId id) {
  const WebhookRef webhook = directory_.find(id);
  if (!webhook) {
    return;
  }
  Operation operation;
  operation.kind = OperationKind::replay;
  operation.spec.filter.states = {DeliveryState::dead_letter, DeliveryState::cancelled};
  if (random_.below(3) == 0) {
    operation.spec.filter.states.push_back(DeliveryState::succeeded);
  }
  const Onward onward{.after = static_cast<std::int64_t>(
                          random_.below(static_cast<std::uint64_t>(durable_.next_sequence))),
                      .limit = static_cast<std::uint32_t>(1 + random_.below(20))};
  const auto page = make_memory_history(durable_)->list_events_for(
      id, {.tenant_id = webhook->tenant_id, .types = {}}, onward);
  POSTRIDER_ASSERT(page.has_value());
  const Moment now = timeline_.now();
  const std::function<Uuid()> new_uuid = [this, now] { return ids_.next(now.wall); };
  const ChunkPlan plan =
      plan_replay(operation, *page, {.webhook = *webhook, .new_uuid = new_uuid, .now = now});
  for (const Revive& order : plan.batch.revivals) {
    checks_.revived(order.delivery_id);
  }
  note(fmt::format("replay {} revives {} enrolls {}", id.to_string(), plan.batch.revivals.size(),
                   plan.batch.enrolments.size()));
  store_.submit(SimReplay{plan.batch.revivals, plan.batch.enrolments});
}

void World::change_webhook(WebhookId id, const std::function<void(Webhook&)>& edit) {
  store_.submit(SimCatalog{[this, id, edit](Catalog& catalog) {
    const WebhookRef current = directory_.find(id);
    if (!current) {
      return;
    }
    Webhook changed = *current;
    edit(changed);
    POSTRIDER_ASSERT(catalog.put_webhook(changed).has_value());
    if (!same_schedule(changed.retry, current->retry)) {
      POSTRIDER_ASSERT(catalog.mark_rescheduling(id).has_value());
    }
    auto shared = std::make_shared<const Webhook>(std::move(changed));
    directory_ = directory_.with(shared);
    tell(id, WebhookChanged{.webhook = shared, .circuit = {}, .backlog_due = {}});
  }});
}

void World::remove_webhook(WebhookId id) {
  store_.submit(SimCatalog{[this, id](Catalog& catalog) {
    if (catalog.remove_webhook(id)) {
      directory_ = directory_.without(id);
      tell(id, WebhookRemoved{id});
      cancel_waiting(id);
    }
  }});
}

/// In steps, with a crash or anything else between them.
void World::cancel_waiting(WebhookId id) {
  store_.submit(SimCatalog{[this, id](Catalog& catalog) {
    if (catalog.cancel_waiting(id, timeline_.now().wall, 2).value_or(true)) {
      cancel_waiting(id);
    }
  }});
}

void World::jump_clock() {
  constexpr std::int64_t jumps_ms[] = {1'000, 300'000, 3'600'000, 86'400'000};
  const std::int64_t by = jumps_ms[random_.below(4)] * (random_.below(2) == 0 ? 1 : -1);
  note(fmt::format("jump {} ms", by));
  timeline_.jump(Millis{by});
}

void World::calm_down() {
  if (!up_ || draining_) {
    timeline_.after(seconds{1}, [this] { calm_down(); });
    return;
  }
  note("calm");
  calm_ = true;
  store_.calm();
  for (Receiver& receiver : scenario_.receivers) {
    if (receiver.manners != Manners::refusing) {
      receiver.manners = Manners::healthy;
    }
    const WebhookId id = receiver.webhook.id;
    change_webhook(id, [](Webhook& webhook) { webhook.paused = false; });
    tell(id, CircuitCommanded{id, CircuitAction::reset, {}});
  }
}

bool World::at_rest() const {
  if (!calm_ || !up_ || in_flight_ > 0 || !store_.idle()) {
    return false;
  }
  return std::ranges::all_of(durable_.waiting, [this](const auto& lane) {
    const auto webhook = durable_.webhooks.find(lane.first);
    return lane.second.empty() || (webhook != durable_.webhooks.end() && !webhook->second.active);
  });
}

RunResult World::run() {
  schedule_everything();
  boot();
  const MonoTime end = MonoTime{} + scenario_.trouble_time + rest_max;
  while (!at_rest() && checks_.violations().empty() && timeline_.mono() < end && timeline_.step()) {
  }
  checks_.check_end();
  return {.trace_hash = trace_hash_,
          .violations = checks_.violations(),
          .attempts = attempts_,
          .acknowledged = acknowledged_,
          .virtual_time = timeline_.mono().time_since_epoch()};
}

}  // namespace

RunResult run_world(const Scenario& scenario, const std::function<void(const std::string&)>& log) {
  return World{scenario, log}.run();
}

}  // namespace postrider::sim
