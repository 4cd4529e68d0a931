#include "engine/shard/shard_driver_test.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/assert.h"

namespace postrider::test {
namespace {

std::string describe(const Delivery& delivery) {
  return fmt::format("{} seq={} state={} due={} count={} budget={}", delivery.id.to_string(),
                     delivery.sequence, to_string(delivery.state), to_unix_ms(delivery.due),
                     delivery.attempt_count, delivery.budget_used);
}

struct Printer {
  std::string operator()(const StartAttempt& start) const {
    return fmt::format("start {} number={} timeout={}", describe(start.delivery),
                       start.attempt_number, start.timeout.count());
  }
  std::string operator()(const Settle& settle) const {
    const Settlement& settlement = settle.settlement;
    return fmt::format("settle {} attempt={} dead={}", describe(settlement.delivery),
                       settlement.attempt ? settlement.attempt->id.to_string() : "none",
                       settlement.dead ? settlement.dead->reason : "no");
  }
  std::string operator()(const LoadLane& load) const {
    return fmt::format("load {} limit={} before={}", load.webhook_id.to_string(), load.limit,
                       to_unix_ms(load.due_before));
  }
  std::string operator()(const SetAlarm& alarm) const {
    return fmt::format("alarm {}", alarm.at.time_since_epoch().count());
  }
  std::string operator()(const SaveCircuit& save) const {
    return fmt::format("circuit {} {}", save.webhook_id.to_string(), to_string(save.record.state));
  }
  std::string operator()(const DisableWebhook& disable) const {
    return fmt::format("disable {}", disable.webhook_id.to_string());
  }
  std::string operator()(const RaiseAlert& alert) const {
    return fmt::format("alert {} {} {}", to_string(alert.kind), alert.webhook_id.to_string(),
                       alert.detail);
  }
  std::string operator()(const Reschedule& reschedule) const {
    return "reschedule " + reschedule.webhook_id.to_string();
  }
  std::string operator()(const EndAttempts& end) const {
    return fmt::format("end attempts {}", end.shard);
  }
  std::string operator()(const CircuitCommandReturned& returned) const {
    return "command returned " + returned.command.webhook_id.to_string();
  }
  std::string operator()(const ShardHandedBack& back) const {
    return fmt::format("handed back {}", back.shard);
  }
  std::string operator()(const Drained&) const { return "drained"; }
};

}  // namespace

Outcome answered(std::uint16_t http_status) {
  Outcome outcome;
  outcome.http_status = http_status;
  return outcome;
}

Outcome failed(FailureCategory category) {
  Outcome outcome;
  outcome.failure = category;
  return outcome;
}

std::string print(const Command& command) { return std::visit(Printer{}, command); }

ShardDriver::ShardDriver(ShardOptions options, std::uint64_t seed) : shard_(options, seed) {}

void ShardDriver::pass(Micros by) {
  now_.mono += by;
  // The wall clock has a resolution of one millisecond.
  now_.wall += std::chrono::floor<Millis>(by);
}

void ShardDriver::jump_wall(Millis by) { now_.wall += by; }

void ShardDriver::ring_after(Micros by) {
  pass(by);
  feed(AlarmRang{});
}

bool ShardDriver::ring_next() {
  if (!alarm_) {
    return false;
  }
  ring_after(std::max(*alarm_ - now_.mono, Micros{0}));
  return true;
}

void ShardDriver::feed(Input input) {
  if (std::holds_alternative<AlarmRang>(input)) {
    alarm_.reset();
  }
  now_.steady = steady_wall_.read(now_);
  for (Command& command : shard_.step(std::move(input), now_)) {
    log_.push_back(print(command));
    if (const auto* alarm = std::get_if<SetAlarm>(&command)) {
      alarm_ = alarm->at;
    }
    commands_.push_back(std::move(command));
  }
}

WebhookId ShardDriver::add_webhook(const Tweak& tweak) {
  auto webhook = std::make_shared<Webhook>();
  webhook->id = ids_.make<WebhookId>(epoch);
  webhook->breaker.enabled = false;  // Tests of the circuit enable it.
  webhook->retry.jitter = {};
  if (tweak) {
    tweak(*webhook);
  }
  webhooks_.push_back(webhook);
  feed(WebhookChanged{.webhook = webhook, .circuit = {}, .backlog_due = {}});
  return webhook->id;
}

void ShardDriver::change_webhook(WebhookId id, const Tweak& tweak) {
  const auto found = std::ranges::find(webhooks_, id, [](const auto& each) { return each->id; });
  POSTRIDER_ASSERT(found != webhooks_.end());
  auto changed = std::make_shared<Webhook>(**found);
  tweak(*changed);
  *found = changed;
  feed(WebhookChanged{.webhook = changed, .circuit = {}, .backlog_due = {}});
}

std::shared_ptr<const Webhook> ShardDriver::webhook(WebhookId id) const {
  const auto found = std::ranges::find(webhooks_, id, [](const auto& each) { return each->id; });
  POSTRIDER_ASSERT(found != webhooks_.end());
  return *found;
}

Delivery ShardDriver::make(WebhookId webhook, const std::function<void(Delivery&)>& shape) {
  Delivery delivery;
  delivery.id = ids_.make<DeliveryId>(epoch);
  delivery.event_id = ids_.make<EventId>(epoch);
  delivery.webhook_id = webhook;
  delivery.sequence = ++sequence_;
  delivery.event_type = "order.paid";
  delivery.due = now_.wall;
  if (shape) {
    shape(delivery);
  }
  return delivery;
}

Delivery ShardDriver::admit(WebhookId webhook, const std::function<void(Delivery&)>& shape) {
  const Delivery delivery = make(webhook, shape);
  feed(Admitted{{delivery}});
  return delivery;
}

std::vector<Delivery> ShardDriver::admit_many(WebhookId webhook, std::size_t count) {
  std::vector<Delivery> deliveries;
  for (std::size_t i = 0; i < count; ++i) {
    deliveries.push_back(make(webhook));
  }
  feed(Admitted{deliveries});
  return deliveries;
}

void ShardDriver::finish(const StartAttempt& start, Outcome outcome) {
  outcome.executed_at = now_.wall;
  feed(AttemptFinished{.webhook_id = start.delivery.webhook_id,
                       .delivery_id = start.delivery.id,
                       .outcome = std::move(outcome)});
}

void ShardDriver::finish_and_settle(const StartAttempt& start, Outcome outcome) {
  finish(start, std::move(outcome));
  feed(Settled{{{start.delivery.webhook_id, start.delivery.id}}});
}

void ShardDriver::settled(const Settlement& settlement) {
  feed(Settled{{{settlement.delivery.webhook_id, settlement.delivery.id}}});
}

void ShardDriver::store_failed(const Settlement& settlement) {
  feed(StoreFailed{{{settlement.delivery.webhook_id, settlement.delivery.id}}});
}

void ShardDriver::load(WebhookId webhook, std::vector<Delivery> rows,
                       std::optional<WallTime> rest_due) {
  feed(LaneLoaded{.webhook_id = webhook, .deliveries = std::move(rows), .rest_due = rest_due});
}

std::vector<DeliveryId> ShardDriver::take_started() {
  std::vector<DeliveryId> ids;
  for (const StartAttempt& start : take<StartAttempt>()) {
    ids.push_back(start.delivery.id);
  }
  return ids;
}

TEST(ShardDriver, TimePassesOnlyOnRequest) {
  ShardDriver driver;
  const Moment before = driver.now();
  driver.feed(AlarmRang{});
  EXPECT_EQ(driver.now(), before);
  driver.pass(Millis{5});
  EXPECT_EQ(driver.wall() - before.wall, Millis{5});
}

}  // namespace postrider::test
