// The world's parts and what it does with them. Private to the simulation; world.h runs it.
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

#include "tests/simulation/checks.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/sim_store.h"
#include "tests/simulation/timeline.h"
#include "tests/simulation/world.h"

namespace postrider::sim {

constexpr Micros drain_deadline = std::chrono::minutes{1};  // Longer than any attempt here takes.

/// One run. What happens is drawn from one generator, so the order of draws is part of the seed's
/// meaning.
class World {
 public:
  World(const Scenario& scenario, std::function<void(const std::string&)> log);

  RunResult run();

 private:
  // The node's life: world_node.cc.
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

  // Its commands: world_node.cc.
  void perform(std::size_t shard, const Command& command);
  void start(std::size_t shard, const StartAttempt& command);
  void set_alarm(std::size_t shard, MonoTime at);
  void reschedule(WebhookId id);

  // The course of a run: world.cc.
  void schedule_everything();
  void jump_clock();
  void calm_down();
  [[nodiscard]] bool at_rest() const;
  void note(const std::string& line);

  // Publishers and people: world_people.cc.
  void publish(Event draft, bool keyed);
  void change_something();
  void replay(WebhookId id);
  void change_webhook(WebhookId id, const std::function<void(Webhook&)>& edit);
  void remove_webhook(WebhookId id);
  void cancel_waiting(WebhookId id);

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

}  // namespace postrider::sim
