// The state of one simulated run. Private to the simulation; use world.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "engine/intake/directory.h"
#include "engine/shard/shard.h"

#include "adapters/memory/memory_store.h"
#include "runtime/limits/shared_allowance.h"
#include "runtime/observability/metrics.h"
#include "runtime/observability/stream_hub.h"
#include "runtime/store/shard_replies.h"

#include "tests/simulation/checks.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sim_home.h"
#include "tests/simulation/sim_store.h"
#include "tests/simulation/sim_worker.h"
#include "tests/simulation/timeline.h"
#include "tests/simulation/world.h"

namespace postrider::sim {

constexpr Micros drain_deadline = std::chrono::minutes{1};  // Longer than any attempt takes.

/// One run. Everything random comes from one generator, so changing the order of draws changes what
/// a seed does.
class World final : private SimHome {
 public:
  World(const Scenario& scenario, std::function<void(const std::string&)> log);

  World(const World&) = delete;
  World& operator=(const World&) = delete;

  RunResult run();

 private:
  // SimHome: world_worker.cc.
  void later(Micros delay, std::function<void()> act) override;
  void later_at(MonoTime at, std::function<void()> act) override;
  void elsewhere(Micros delay, std::function<void()> act) override;
  void note(const std::string& line) override;
  void submit(SimJob job) override { store_.submit(std::move(job)); }
  void disable_webhook(WebhookId id) override;
  void reschedule(WebhookId id) override;
  void handed_back(ShardNumber) override {}
  void drained(const ShardView& view) override;
  void before_step(const Input& input) override;
  void after_step(ShardHost& host, const Commands& commands) override;
  void request_sent(const SimRequest& request) override;
  void request_ended(const SimRequest&) override {}
  void accepted(DeliveryId id) override { checks_.accepted(id); }
  void ambiguous(DeliveryId id) override { checks_.ambiguous(id); }
  [[nodiscard]] bool is_troubled() const override {
    return timeline_.mono() < MonoTime{} + scenario_.trouble_time;
  }
  void attempt_ended(DeliveryId id, bool sent);

  // The node's life: world_node.cc.
  void boot();
  void crash();
  void load_lanes();
  void begin_drain();
  void abandon();
  void shard_drained();
  void end_drain();
  void feed(WebhookId webhook_id, Input input);
  void deliver(std::size_t shard, ShardReplies replies);
  void recovered(const std::vector<LaneBacklog>& backlog, RepliesByShard& replies);
  static void reply(RepliesByShard& replies, WebhookId webhook_id, Input input);

  // The course of a run: world.cc.
  void schedule_everything();
  void jump_wall_clock();
  void end_faults();
  [[nodiscard]] bool at_rest() const;

  // Publishers and users: world_users.cc.
  void publish(Event draft, bool keyed);
  [[nodiscard]] Publish plan(Event event);
  void make_user_change();
  void replay(WebhookId id);
  void change_webhook(WebhookId id, const std::function<void(Webhook&)>& edit);
  void remove_webhook(WebhookId id);
  void cancel_waiting(WebhookId id);

  [[nodiscard]] Micros sometime() {
    return Micros{static_cast<std::int64_t>(
        random_.below(static_cast<std::uint64_t>(scenario_.trouble_time.count())))};
  }
  /// How long a message takes from thread to thread.
  [[nodiscard]] Micros handover_delay() {
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

  Scenario scenario_;
  std::function<void(const std::string&)> log_;
  SplitMix64 random_;
  Timeline timeline_;
  TimelineClock clock_;
  std::unique_ptr<Metrics> metrics_ = make_metrics();
  StreamHub stream_{StreamOptions{}};
  MemoryStore durable_;
  Checks checks_;
  SimStore store_;
  UuidGenerator ids_;

  std::unique_ptr<SharedAllowance> allowance_;
  std::vector<std::unique_ptr<SimWorker>> workers_;  // Empty while the server is down.
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

}  // namespace postrider::sim
