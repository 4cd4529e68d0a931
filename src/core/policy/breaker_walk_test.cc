// Runs every short sequence of operations on a breaker and checks each step. The checks state the
// rules in terms of the attempts a caller sees, independently of the breaker's counters.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/policy/breaker.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

enum class Op : std::uint8_t {
  acquire,
  succeed,    // Of the attempt that started first.
  fail,       // Of the attempt that started first.
  fail_last,  // Of the attempt that started last.
  abandon,
  sleep,        // Advances the clock by the first sleep.
  force_open,   // For one sleep.
  force_close,  // For one sleep.
  reset,
};
constexpr std::array<std::string_view, 9> op_names = {"acquire",    "succeed",     "fail",
                                                      "fail_last",  "abandon",     "sleep",
                                                      "force_open", "force_close", "reset"};

constexpr Millis sleep_length = 10s;
constexpr std::size_t depth_max = 8;

/// One node of the walk: the breaker and its caller's state.
struct Node {
  Breaker breaker;
  WallTime now{1h};
  std::uint32_t period = 0;                // The number of state changes.
  std::vector<std::uint32_t> in_flight{};  // The period in which each attempt started.
};

bool may_change(CircuitState from, CircuitState to, Op op) {
  using enum CircuitState;
  switch (op) {
    case Op::acquire:
      return from == open && to == half_open;
    case Op::succeed:  // A success can reach minimum_throughput, so that earlier failures open it.
      return (from == half_open && to == closed) || (from == closed && to == open);
    case Op::fail:
    case Op::fail_last:
      return from != open && to == open;
    case Op::abandon:
    case Op::sleep:
      return false;
    case Op::force_open:
      return to == open;
    case Op::force_close:
    case Op::reset:
      return to == closed;
  }
  return false;
}

class Walk {
 public:
  explicit Walk(const BreakerPolicy& policy) : policy_(policy) {}

  void run() { descend(Node{}); }

  std::size_t steps() const { return steps_; }
  std::array<std::size_t, 3> visits() const { return visits_; }

 private:
  void descend(const Node& node) {
    if (path_.size() == depth_max) {
      return;
    }
    for (std::size_t index = 0; index < op_names.size(); ++index) {
      const Op op = static_cast<Op>(index);
      const bool ends_one =
          op == Op::succeed || op == Op::fail || op == Op::fail_last || op == Op::abandon;
      if ((ends_one && node.in_flight.empty()) ||
          (op == Op::fail_last && node.in_flight.size() < 2)) {
        continue;
      }
      path_.push_back(op);
      Node next = node;
      apply(next, op);
      check(node, next, op);
      ++steps_;
      ++visits_[static_cast<std::size_t>(next.breaker.state())];
      if (testing::Test::HasFailure()) {
        return;  // Report only the first failure and its path.
      }
      descend(next);
      path_.pop_back();
    }
  }

  void apply(Node& node, Op op) {
    const CircuitState before = node.breaker.state();
    bool started = false;
    switch (op) {
      case Op::acquire:
        started = node.breaker.try_acquire(policy_, node.now);
        break;
      case Op::succeed:
        node.breaker.on_success(policy_, node.now);
        break;
      case Op::fail:
      case Op::fail_last:
        node.breaker.on_failure(policy_, node.now);
        break;
      case Op::abandon:
        node.breaker.on_abandoned();
        break;
      case Op::sleep:
        node.now += sleep_length;
        break;
      case Op::force_open:
        node.breaker.force_open(node.now, node.now + sleep_length);
        break;
      case Op::force_close:
        node.breaker.force_close(node.now, node.now + sleep_length);
        break;
      case Op::reset:
        node.breaker.reset(node.now);
        break;
    }
    node.period += node.breaker.state() != before ? 1 : 0;
    if (started) {
      node.in_flight.push_back(node.period);
    } else if (op == Op::succeed || op == Op::fail || op == Op::abandon) {
      node.in_flight.erase(node.in_flight.begin());
    } else if (op == Op::fail_last) {
      node.in_flight.pop_back();
    }
  }

  void check(const Node& before, const Node& after, Op op) {
    const CircuitState from = before.breaker.state();
    const CircuitState to = after.breaker.state();
    EXPECT_TRUE(from == to || may_change(from, to, op)) << trace(after);
    check_record(before, after);

    const bool started = op == Op::acquire && after.in_flight.size() > before.in_flight.size();
    if (started) {  // P7
      EXPECT_NE(to, CircuitState::open) << trace(after);
      EXPECT_FALSE(held(before, true)) << trace(after);
    }
    if (op == Op::acquire) {
      EXPECT_EQ(before.breaker.retry_at(policy_, before.now) == before.now, started)
          << "retry_at must be now exactly if try_acquire succeeds: " << trace(after);
    }
    if (op == Op::acquire && !started) {
      check_refusal(after);
    }
    if (to == CircuitState::half_open) {
      EXPECT_LE(after.in_flight.size(), policy_.half_open_max_calls) << trace(after);
      for (const std::uint32_t period : after.in_flight) {
        EXPECT_EQ(period, after.period) << "an earlier attempt counts as a probe: " << trace(after);
      }
    }
    if (held(before, false) && op != Op::force_open) {
      EXPECT_EQ(to, CircuitState::closed) << trace(after);
    }
  }

  void check_record(const Node& before, const Node& after) {
    const CircuitRecord& record = after.breaker.record();
    EXPECT_EQ(Breaker{record}.record(), record) << trace(after);
    EXPECT_EQ(record.open_until.has_value(), record.state == CircuitState::open) << trace(after);
    EXPECT_TRUE(record.forced_until || !record.forced_open) << trace(after);
    const bool changed = record.state != before.breaker.state();
    EXPECT_EQ(record.changed_at, changed ? after.now : before.breaker.record().changed_at)
        << trace(after);
    if (record.state == CircuitState::closed) {
      EXPECT_EQ(record.openings_in_row, 0u) << trace(after);
    }
  }

  /// A refused caller must have something to wait for that will happen.
  void check_refusal(const Node& node) {
    const std::optional<WallTime> retry_at = node.breaker.retry_at(policy_, node.now);
    if (retry_at) {
      EXPECT_GT(*retry_at, node.now) << trace(node);
      EXPECT_LE(*retry_at, node.now + policy_.sleep_max) << trace(node);
    } else {
      EXPECT_FALSE(node.in_flight.empty()) << "nothing to wait for: " << trace(node);
    }
  }

  static bool held(const Node& node, bool open) {
    const CircuitRecord& record = node.breaker.record();
    return record.forced_until && node.now < *record.forced_until && record.forced_open == open;
  }

  std::string trace(const Node& node) const {
    std::string text;
    for (const Op op : path_) {
      text += fmt::format("{} ", op_names[static_cast<std::size_t>(op)]);
    }
    return text + fmt::format("=> {}", to_string(node.breaker.state()));
  }

  BreakerPolicy policy_;
  std::vector<Op> path_;
  std::size_t steps_ = 0;
  std::array<std::size_t, 3> visits_{};
};

void expect_walk_holds(const BreakerPolicy& policy) {
  Walk walk{policy};
  walk.run();
  EXPECT_GT(walk.steps(), 500'000u);
  for (const std::size_t visits : walk.visits()) {
    EXPECT_GT(visits, 1'000u) << "a state was visited too rarely";
  }
}

/// Opens at the first failure, so that eight steps cover many transitions.
const BreakerPolicy brittle{.window = BreakerWindow::count,
                            .window_calls = 2,
                            .minimum_throughput = 1,
                            .sleep_window = sleep_length,
                            .sleep_max = 4 * sleep_length,
                            .half_open_max_calls = 2,
                            .half_open_success_percentage = 50};

TEST(BreakerWalk, HoldsIfHalfTheProbesMustSucceed) { expect_walk_holds(brittle); }

TEST(BreakerWalk, HoldsIfAllProbesMustSucceed) {
  BreakerPolicy policy = brittle;
  policy.half_open_success_percentage = 100;
  expect_walk_holds(policy);
}

TEST(BreakerWalk, HoldsWithOneProbeAndAFailureCountInATimeWindow) {
  BreakerPolicy policy = brittle;
  policy.window = BreakerWindow::time;
  policy.window_size = sleep_length + 1ms;
  policy.failure_count_threshold = 1;
  policy.half_open_max_calls = 1;
  expect_walk_holds(policy);
}

TEST(BreakerWalk, HoldsIfASuccessReachesTheMinimumThroughput) {
  BreakerPolicy policy = brittle;
  policy.minimum_throughput = 2;
  expect_walk_holds(policy);
}

}  // namespace
}  // namespace postrider
