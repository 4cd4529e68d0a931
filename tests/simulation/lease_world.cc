#include "tests/simulation/lease_world.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/random.h"

#include "tests/simulation/sim_lease_node.h"
#include "tests/simulation/sim_lease_table.h"
#include "tests/simulation/timeline.h"

namespace postrider::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Micros lease_length = seconds{15};
/// After the last fault: leases end, nodes are established, attempts in flight end.
constexpr Micros settling_time = 5 * lease_length;
/// From the moment a node stops sending for a shard until the next owner starts, if all works.
constexpr Micros handover_max = milliseconds{1'500};
/// From a crash until all shards are owned again.
constexpr Micros takeover_max = lease_length + seconds{1};

class LeaseWorld final : public LeaseCluster {
 public:
  LeaseWorld(const LeaseScenario& scenario, std::function<void(const std::string&)> log)
      : scenario_(scenario),
        log_(std::move(log)),
        random_(scenario.seed ^ 0x1ea5e5),
        table_(scenario_, *this, some_rate(),
               [this](const SimNode& node, const auto& before) { check_takeovers(node, before); }) {
  }

  LeaseRunResult run();

  // LeaseCluster.
  void send_turn(SimNode& node, const LeaseTurn& turn, Answer answer) override {
    table_.send_turn(node, turn, std::move(answer));
  }
  void send_leave(const SimNode& node) override { table_.send_leave(node); }
  void acquired(const SimLeaseNode& node, ShardEpoch shard) override;
  void lost(const SimLeaseNode& node, ShardEpoch shard) override;
  void sent(const SimLeaseNode& node, ShardEpoch shard) override;
  void note(const std::string& line) override;
  Timeline& timeline() override { return timeline_; }
  SplitMix64& random() override { return random_; }
  Micros attempt_time() override;

 private:
  using Nodes = std::vector<std::unique_ptr<SimLeaseNode>>;

  [[nodiscard]] double some_rate() { return 1 + (2 * random_.draw() - 1) * scenario_.drift_max; }
  [[nodiscard]] Micros sometime() { return some_time(scenario_.trouble_time); }
  [[nodiscard]] Micros some_time(Micros max) {
    return Micros{
        static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(max.count())))};
  }

  // The course of a run.
  SimLeaseNode& join();
  void schedule_faults();
  void disturb(std::uint32_t count, const std::function<void(SimLeaseNode&)>& act);
  void end_faults();
  void run_for(Micros time);

  // Checks.
  void violate(const std::string& what);
  [[nodiscard]] Nodes::const_iterator other_worker(const SimNode& node, ShardNumber shard) const;
  void check_takeovers(const SimNode& node, const ClusterView& before);
  void check_balance(std::string_view when);
  void check_join();
  void check_leave();
  void check_crash();
  [[nodiscard]] std::vector<SimLeaseNode*> staying() const;
  [[nodiscard]] Epoch takeovers();

  LeaseScenario scenario_;
  std::function<void(const std::string&)> log_;
  SplitMix64 random_;
  Timeline timeline_;
  Nodes nodes_;
  SimLeaseTable table_;
  bool calm_ = false;

  std::map<ShardNumber, MonoTime> idle_since_;  // Lost by the owner and not acquired since.
  Micros handover_slowest_{0};
  std::uint64_t losses_ = 0;
  std::uint64_t sends_ = 0;
  std::uint64_t hash_ = 14695981039346656037ull;
  std::vector<std::string> violations_;
};

// ---------------------------------------------------------------- what nodes do

void LeaseWorld::note(const std::string& line) {
  const std::string timed = fmt::format(
      "{:12.6f} {}", static_cast<double>(timeline_.mono().time_since_epoch().count()) / 1e6, line);
  for (const char character : timed) {
    hash_ = (hash_ ^ static_cast<unsigned char>(character)) * 1099511628211ull;
  }
  if (log_) {
    log_(timed);
  }
}

Micros LeaseWorld::attempt_time() {
  const Micros max =
      calm_ ? milliseconds{300} : milliseconds{random_.below(10) == 0 ? 20'000 : 500};
  return Micros{1'000} + some_time(max);
}

void LeaseWorld::acquired(const SimLeaseNode& node, ShardEpoch shard) {
  note(fmt::format("node {} acquires {}/{}", node.number(), shard.shard, shard.epoch));
  if (const auto other = other_worker(node, shard.shard); other != nodes_.end()) {
    violate(fmt::format("P8: node {} acquires shard {}, which node {} works", node.number(),
                        shard.shard, (*other)->number()));
  }
  if (const auto idle = idle_since_.extract(shard.shard)) {
    handover_slowest_ = std::max(handover_slowest_, timeline_.mono() - idle.mapped());
  }
}

void LeaseWorld::lost(const SimLeaseNode& node, ShardEpoch shard) {
  note(fmt::format("node {} loses {}/{}", node.number(), shard.shard, shard.epoch));
  if (table_.lease(shard.shard).owner == node.id()) {
    idle_since_.try_emplace(shard.shard, timeline_.mono());
  }
  ++losses_;
}

void LeaseWorld::sent(const SimLeaseNode& node, ShardEpoch shard) {
  note(fmt::format("node {} sends for {}/{}", node.number(), shard.shard, shard.epoch));
  ++sends_;
  const Lease lease = table_.lease(shard.shard);
  if (!lease.is_held_by(node.id()) || lease.epoch != shard.epoch) {
    violate(fmt::format("P8: node {} sends for shard {} without the lease", node.number(),
                        shard.shard));
  }
  if (const auto other = other_worker(node, shard.shard); other != nodes_.end()) {
    violate(fmt::format("P8: nodes {} and {} send for shard {}", node.number(), (*other)->number(),
                        shard.shard));
  }
}

// ---------------------------------------------------------------- checks

void LeaseWorld::violate(const std::string& what) {
  note("VIOLATION " + what);
  violations_.push_back(
      fmt::format("at {} ms: {}", timeline_.mono().time_since_epoch() / Millis{1}, what));
}

LeaseWorld::Nodes::const_iterator LeaseWorld::other_worker(const SimNode& node,
                                                           ShardNumber shard) const {
  return std::ranges::find_if(
      nodes_, [&](const auto& other) { return other.get() != &node && other->works(shard); });
}

/// A node must have stopped when the database gives its shard to another one.
void LeaseWorld::check_takeovers(const SimNode& node, const ClusterView& before) {
  const ClusterView after = table_.view();
  for (ShardNumber shard = 0; shard < shard_count; ++shard) {
    if (after.leases[shard].epoch == before.leases[shard].epoch) {
      continue;
    }
    if (const auto other = other_worker(node, shard); other != nodes_.end()) {
      violate(fmt::format("P8: node {} takes shard {}, which node {} works", node.number(), shard,
                          (*other)->number()));
    }
  }
}

std::vector<SimLeaseNode*> LeaseWorld::staying() const {
  std::vector<SimLeaseNode*> found;
  for (const auto& node : nodes_) {
    if (node->is_staying()) {
      found.push_back(node.get());
    }
  }
  return found;
}

/// Every epoch is one takeover.
Epoch LeaseWorld::takeovers() {
  Epoch sum = 0;
  for (const Lease& lease : table_.view().leases) {
    sum += lease.epoch;
  }
  return sum;
}

void LeaseWorld::check_balance(std::string_view when) {
  const std::vector<SimLeaseNode*> nodes = staying();
  const auto each = shard_count / static_cast<std::uint32_t>(nodes.size());
  std::uint32_t total = 0;
  for (const SimLeaseNode* node : nodes) {
    const std::uint32_t held = node->shards_held();
    total += held;
    if (held != each && held != each + 1) {
      violate(fmt::format("{}, node {} of {} holds {} shards", when, node->number(), nodes.size(),
                          held));
    }
  }
  if (total != shard_count) {
    violate(fmt::format("{}, {} shards are held", when, total));
  }
  if (!idle_since_.empty() && total == shard_count) {
    violate(fmt::format("{}, a shard was lost and never acquired", when));
  }
}

void LeaseWorld::check_join() {
  const auto share = static_cast<Epoch>(shard_count / (staying().size() + 1));
  const Epoch before = takeovers();
  const std::uint64_t losses = losses_;
  handover_slowest_ = Micros{0};
  join();
  run_for(2 * lease_length);
  check_balance("after a node has joined");
  if (takeovers() - before != share || losses_ - losses != static_cast<std::uint64_t>(share)) {
    violate(fmt::format("a node has joined: {} shards moved, {} were lost, {} had to",
                        takeovers() - before, losses_ - losses, share));
  }
  if (handover_slowest_ > handover_max) {
    violate(fmt::format("a shard moved to a new node in {} ms", handover_slowest_ / Millis{1}));
  }
}

void LeaseWorld::check_leave() {
  SimLeaseNode& node = *staying().front();
  const auto share = static_cast<Epoch>(node.shards_held());
  const Epoch before = takeovers();
  handover_slowest_ = Micros{0};
  node.leave();
  run_for(2 * lease_length);
  check_balance("after a node has left");
  if (!node.is_gone()) {
    violate("a node has not left");
  }
  if (takeovers() - before != share) {
    violate(
        fmt::format("a node has left: {} shards moved, {} had to", takeovers() - before, share));
  }
  if (handover_slowest_ > handover_max) {
    violate(
        fmt::format("a leaving node handed a shard over in {} ms", handover_slowest_ / Millis{1}));
  }
}

void LeaseWorld::check_crash() {
  SimLeaseNode& node = *staying().back();
  const auto share = static_cast<Epoch>(node.shards_held());
  const Epoch before = takeovers();
  node.crash();
  run_for(takeover_max);
  check_balance("after a node has crashed");
  if (takeovers() - before != share) {
    violate(
        fmt::format("a node has crashed: {} shards moved, {} had to", takeovers() - before, share));
  }
}

// ---------------------------------------------------------------- the course of a run

SimLeaseNode& LeaseWorld::join() {
  const auto number = static_cast<std::uint32_t>(nodes_.size() + 1);
  nodes_.push_back(std::make_unique<SimLeaseNode>(*this, number, some_rate()));
  nodes_.back()->start();
  return *nodes_.back();
}

void LeaseWorld::disturb(std::uint32_t count, const std::function<void(SimLeaseNode&)>& act) {
  for (std::uint32_t i = 0; i < count; ++i) {
    timeline_.after(sometime(), [this, act] {
      if (const std::vector<SimLeaseNode*> nodes = staying(); !nodes.empty()) {
        act(*nodes[random_.below(nodes.size())]);
      }
    });
  }
}

void LeaseWorld::schedule_faults() {
  disturb(scenario_.pauses, [this](SimLeaseNode& node) {
    node.pause();
    timeline_.after(some_time(seconds{random_.below(2) == 0 ? 3 : 40}), [&node] { node.resume(); });
  });
  disturb(scenario_.partitions,
          [this](SimLeaseNode& node) { table_.cut_off(node, Micros{0}, some_time(seconds{60})); });
  disturb(scenario_.crashes, [](SimLeaseNode& node) { node.crash(); });
  disturb(scenario_.leaves, [](SimLeaseNode& node) { node.leave(); });
  for (std::uint32_t i = 0; i < scenario_.joins; ++i) {
    timeline_.after(sometime(), [this] { join(); });
  }
  for (std::uint32_t i = 0; i < scenario_.outages; ++i) {
    timeline_.after(sometime(), [this] { table_.go_down(some_time(seconds{40})); });
  }
  for (std::uint32_t i = 0; i < scenario_.clock_jumps; ++i) {
    timeline_.after(sometime(), [this] { table_.jump(); });
  }
}

void LeaseWorld::end_faults() {
  note("the faults end");
  calm_ = true;
  table_.calm();
  for (const auto& node : nodes_) {
    node->set_connected(true);
    node->resume();
  }
  while (staying().size() < 2) {
    join();
  }
}

void LeaseWorld::run_for(Micros time) {
  bool over = false;
  timeline_.after(time, [&over] { over = true; });
  while (!over && timeline_.step()) {
  }
}

LeaseRunResult LeaseWorld::run() {
  for (std::uint32_t i = 0; i < scenario_.nodes; ++i) {
    timeline_.after(some_time(seconds{2}), [this] { join(); });
  }
  schedule_faults();
  run_for(scenario_.trouble_time);
  end_faults();
  const Epoch troubled = takeovers();
  run_for(settling_time);
  check_balance("after the faults");
  const Epoch settled = takeovers();
  const std::uint64_t losses = losses_;
  run_for(settling_time);
  if (takeovers() != settled || losses_ != losses) {
    violate("shards move although nothing happens");
  }
  check_join();
  check_leave();
  join();
  run_for(2 * lease_length);
  check_crash();
  return {.trace_hash = hash_,
          .violations = violations_,
          .sends = sends_,
          .takeovers = static_cast<std::uint64_t>(troubled)};
}

}  // namespace

LeaseRunResult run_lease_world(const LeaseScenario& scenario,
                               const std::function<void(const std::string&)>& log) {
  return LeaseWorld{scenario, log}.run();
}

}  // namespace postrider::sim
