// For tests: a shard, a model of the store, and random faults between them, derived from a seed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/base/random.h"
#include "core/model/lease.h"
#include "engine/shard/model_store_test.h"
#include "engine/shard/shard_driver_test.h"

namespace postrider::test {

/// `leased`: the webhooks are shared with other nodes, which do nothing themselves.
struct ShardWorldOptions {
  Ordering ordering = Ordering::none;
  bool leased = false;
};

/// Checks the invariants after every step. Single-threaded.
class ShardWorld {
 public:
  ShardWorld(std::uint64_t seed, ShardWorldOptions options);

  void run_with_faults(int steps);
  /// Returns false if a delivery never reaches a final state.
  [[nodiscard]] bool run_until_final();
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
  /// Read what waits for the webhooks of a part, and acquire it.
  struct Acquire {
    ShardNumber shard = 0;
    Epoch epoch = 0;
  };
  using Job = std::variant<Publish, Settlement, LoadLane, Revive, Cancel, Acquire>;

  enum class PartState : std::uint8_t { absent, asked, worked, leaving, ending };
  struct Part {
    PartState state = PartState::absent;
    Epoch epoch = 0;
  };

  bool with_probability(std::uint64_t percent) { return random_.below(100) < percent; }

  void random_action();
  void publish();
  void finish_one();
  void pass_time();
  void act_as_user();
  /// Commits all queued jobs as one transaction, then answers the loads.
  void run_store();
  void commit(const Job& job);
  void answer(const std::deque<Job>& jobs);
  void recover();
  void tell(WebhookId id, bool at_start);
  void collect();
  void collect_once();

  // shard_world_leases_test.cc
  void acquire_or_lose();
  void ask_for(ShardNumber shard);
  void acquire(const Acquire& job);
  void end_attempts(ShardNumber shard);
  void part_handed_back(ShardNumber shard);
  [[nodiscard]] bool is_worked(WebhookId id) const;
  /// Also while its part leaves.
  [[nodiscard]] bool may_start(WebhookId id) const;
  /// P4: no earlier delivery of the same line waits in the store, and none is in flight.
  void check_start(const StartAttempt& start);
  /// The last transaction failed and may have been stored; the store has not recovered yet.
  bool commit_is_ambiguous(const Delivery&) const { return store_.broken; }
  void check() const;
  [[nodiscard]] bool all_final() const;

  SplitMix64 random_;
  Ordering ordering_;
  bool leased_;
  ShardDriver driver_;
  std::vector<WebhookId> webhooks_;
  ModelStore store_;
  std::deque<Job> jobs_;
  std::vector<StartAttempt> in_flight_;
  std::map<ShardNumber, Part> parts_;  // Those with webhooks.
  bool with_faults_ = true;
};

}  // namespace postrider::test
