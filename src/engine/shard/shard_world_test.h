// For tests of the engine: a shard, a model of the store and everything that may go wrong between
// them, drawn from a seed.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "core/base/random.h"
#include "engine/shard/model_store_test.h"
#include "engine/shard/shard_driver_test.h"

namespace postrider::test {

/// One thread. What must hold is expected after every step.
class ShardWorld {
 public:
  ShardWorld(std::uint64_t seed, Ordering ordering);

  void run_with_trouble(int steps);
  /// False when something never ends.
  [[nodiscard]] bool run_to_the_end();
  [[nodiscard]] std::string unfinished() const;
  [[nodiscard]] std::vector<std::string> log() const { return driver_.log(); }

 private:
  struct Publish {
    Delivery delivery;
  };
  struct Revive {
    DeliveryId id;
  };
  struct Cancel {
    DeliveryId id;
  };
  using Job = std::variant<Publish, Settlement, LoadLane, Revive, Cancel>;

  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }

  void act();
  void publish();
  void finish_one();
  void pass_time();
  void meddle();
  /// All that queued up, as one transaction; then the loads.
  void store_turn();
  void commit(const Job& job);
  void answer(const std::deque<Job>& jobs);
  void recover();
  void collect();
  /// P4: nothing older that waits in the store, and nothing of the same line in flight.
  void check_start(const StartAttempt& start);
  /// Stored by a transaction whose answer was an error, and the store has not recovered yet.
  bool recently_unsure(const Delivery&) const { return store_.broken; }
  void check() const;
  [[nodiscard]] bool all_final() const;

  SplitMix64 random_;
  Ordering ordering_;
  ShardDriver driver_;
  std::vector<WebhookId> webhooks_;
  ModelStore store_;
  std::deque<Job> jobs_;
  std::vector<StartAttempt> in_flight_;
  bool trouble_ = true;
};

}  // namespace postrider::test
