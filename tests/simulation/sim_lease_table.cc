#include "tests/simulation/sim_lease_table.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace postrider::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Leases that were renewed before a jump have ended by then, even if clocks run slowly.
constexpr Micros lease_max = seconds{20};

SimLeaseTable::SimLeaseTable(const LeaseScenario& scenario, SimNetwork& network, double rate,
                             Taken taken)
    : scenario_(scenario), network_(network), rate_(rate), taken_(std::move(taken)) {}

bool SimLeaseTable::happens(std::uint32_t per_mille) {
  return !calm_ && network_.random().below(1'000) < per_mille;
}

Micros SimLeaseTable::some_time(Micros max) {
  return Micros{
      static_cast<std::int64_t>(network_.random().below(static_cast<std::uint64_t>(max.count())))};
}

void SimLeaseTable::sync() {
  const auto elapsed = static_cast<double>(network_.timeline().mono().time_since_epoch().count());
  const Millis now{static_cast<std::int64_t>(elapsed * rate_ / 1'000)};
  table_.pass(now - std::exchange(time_, now));
}

void SimLeaseTable::jump() {
  const MonoTime now = network_.timeline().mono();
  if (!calm_ && now >= jump_allowed_) {
    network_.note("the clock of the database jumps");
    has_jumped_ = true;
    jump_allowed_ = now + lease_max;
  }
}

/// As adapters/postgres/store/leases/lease_sql.cc does it: a step that is too long is shortened.
void SimLeaseTable::count_jump(Millis length) {
  sync();
  if (std::exchange(has_jumped_, false)) {
    table_.pass(std::max(turn_interval(length) - (time_ - last_turn_), Millis{0}));
  }
  last_turn_ = time_;
}

ClusterView SimLeaseTable::view() {
  sync();
  return table_.view("");
}

Lease SimLeaseTable::lease(ShardNumber shard) {
  sync();
  return table_.lease("", shard);
}

bool SimLeaseTable::is_down() const { return network_.timeline().mono() < down_until_; }

void SimLeaseTable::send_turn(SimNode& node, const LeaseTurn& turn, SimNetwork::Answer answer) {
  Micros there = Micros{200} + some_time(milliseconds{calm_ ? 5 : 50});
  Micros back = Micros{200} + some_time(milliseconds{calm_ ? 5 : 50});
  if (happens(scenario_.late_requests)) {
    there += some_time(seconds{40});
  }
  if (happens(scenario_.late_answers)) {
    back += some_time(seconds{5});
    cut_off(node, there + back, seconds{20});  // The lease counts from the request.
  }
  if (!node.is_connected() || happens(scenario_.lost_requests)) {
    return;
  }
  network_.timeline().after(there, [this, &node, turn, answer = std::move(answer), back] {
    execute(node, turn, answer, back);
  });
}

void SimLeaseTable::execute(const SimNode& node, const LeaseTurn& turn,
                            const SimNetwork::Answer& answer, Micros back) {
  if (is_down()) {
    return;
  }
  count_jump(turn.length);
  const ClusterView before = view();
  const ClusterView after = table_.take_turn(
      {.id = node.id(), .pool = "", .address = fmt::format("node-{}", node.number())}, turn);
  taken_(node, before);
  if (node.is_connected() && !happens(scenario_.lost_answers)) {
    network_.timeline().after(back, [answer, after] { answer(after); });
  }
}

void SimLeaseTable::send_leave(const SimNode& node) {
  if (node.is_connected() && !is_down() && !happens(200)) {
    sync();
    table_.leave(node.id());
  }
}

void SimLeaseTable::cut_off(SimNode& node, Micros after, Micros time) {
  network_.timeline().after(after, [this, &node, time] {
    if (!calm_) {
      network_.note(fmt::format("node {} is cut off", node.number()));
      node.set_connected(false);
      network_.timeline().after(time, [&node] { node.set_connected(true); });
    }
  });
}

void SimLeaseTable::go_down(Micros time) {
  network_.note("the database is down");
  down_until_ = network_.timeline().mono() + time;
}

void SimLeaseTable::calm() {
  calm_ = true;
  down_until_ = {};
}

}  // namespace postrider::sim
