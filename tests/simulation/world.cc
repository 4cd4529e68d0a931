#include "tests/simulation/world.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "tests/simulation/world_state.h"

namespace postrider::sim {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Micros rest_max =
    hours{96};  // Longer than a wall clock set back by a day can delay anything.

}  // namespace

World::World(const Scenario& scenario, std::function<void(const std::string&)> log)
    : scenario_(scenario),
      log_(std::move(log)),
      random_(scenario.seed ^ 0x5eedull),
      clock_(timeline_),
      checks_(scenario_, durable_, timeline_),
      store_(make_memory_ledger(durable_), make_memory_catalog(durable_),
             {.timeline = &timeline_,
              .random = &random_,
              .scenario = &scenario_,
              .deliver = [this](std::size_t shard,
                                ShardReplies replies) { deliver(shard, std::move(replies)); },
              .webhook = [this](WebhookId id) { return directory_.find(id); },
              .rescheduled = [this](WebhookId id) { checks_.check_waits(id); },
              .new_delivery_id = [this] { return ids_.make<DeliveryId>(timeline_.now().wall); },
              .revived = [this](const Delivery& delivery) { checks_.revival_stored(delivery.id); },
              .recovered = [this](const auto& backlog,
                                  RepliesByShard& replies) { recovered(backlog, replies); }}),
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
  for (const Flood& flood : scenario_.floods) {
    const Micros at = sometime() / 4;
    for (std::uint32_t i = 0; i < flood.event_count; ++i) {
      Event draft;
      draft.tenant_id = flood.tenant_id;
      draft.type = "order.0";
      draft.data = "{}";
      draft.idempotency_key = fmt::format("flood-{}-{}", flood.tenant_id, i);
      timeline_.after(at, [this, draft] { publish(draft, true); });
    }
  }
  for (std::uint32_t i = 0; i < scenario_.crashes; ++i) {
    timeline_.after(sometime(), [this] { crash(); });
  }
  for (std::uint32_t i = 0; i < scenario_.drains; ++i) {
    timeline_.after(sometime(), [this] { begin_drain(); });
  }
  for (std::uint32_t i = 0; i < scenario_.clock_jumps; ++i) {
    timeline_.after(sometime(), [this] { jump_wall_clock(); });
  }
  for (std::uint32_t i = 0; i < scenario_.changes; ++i) {
    timeline_.after(sometime(), [this] { make_user_change(); });
  }
  timeline_.after(scenario_.trouble_time + 2 * drain_deadline, [this] { end_faults(); });
}

void World::jump_wall_clock() {
  constexpr std::int64_t jumps_ms[] = {1'000, 300'000, 3'600'000, 86'400'000};
  const std::int64_t by = jumps_ms[random_.below(4)] * (random_.below(2) == 0 ? 1 : -1);
  note(fmt::format("jump {} ms", by));
  timeline_.jump(Millis{by});
}

void World::end_faults() {
  if (!up_ || draining_) {
    timeline_.after(seconds{1}, [this] { end_faults(); });
    return;
  }
  note("calm");
  calm_ = true;
  store_.calm();
  for (Receiver& receiver : scenario_.receivers) {
    if (receiver.behavior != Behavior::refusing) {
      receiver.behavior = Behavior::healthy;
    }
    const WebhookId id = receiver.webhook.id;
    change_webhook(id, [](Webhook& webhook) { webhook.paused = false; });
    feed(id, CircuitCommanded{id, CircuitAction::reset, {}});
  }
}

bool World::at_rest() const {
  if (!calm_ || !up_ || in_flight_ > 0 || !store_.idle() || !durable_.fanouts.empty()) {
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

RunResult run_world(const Scenario& scenario, const std::function<void(const std::string&)>& log) {
  spdlog::set_level(spdlog::level::off);  // The trace says more.
  return World{scenario, log}.run();
}

}  // namespace postrider::sim
