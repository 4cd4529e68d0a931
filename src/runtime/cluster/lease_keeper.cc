#include "runtime/cluster/lease_keeper.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <spdlog/spdlog.h>

#include "core/policy/repeated_failure.h"

#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

// The threads look at the clock again after this time at the latest.
constexpr Micros wait_max{std::chrono::seconds{1}};

// Turns are tried several times a second while the database is away.
constexpr Millis failure_log_period{10'000};

}  // namespace

LeaseKeeper::LeaseKeeper(LeaseOptions options, Parts parts)
    : node_(options.node),
      held_max_(options.length - options.margin),
      parts_(std::move(parts)),
      leases_(std::move(options)) {}

LeaseKeeper::~LeaseKeeper() { stop(); }

void LeaseKeeper::start() {
  started_ = true;
  turn_thread_ = std::thread{[this] { run_turns(); }};
  thread_ = std::thread{[this] { run(); }};
}

void LeaseKeeper::leave() { add_input(LeaveRequested{}); }

void LeaseKeeper::shard_handed_back(ShardNumber shard) {
  held_[shard].store(false, std::memory_order_release);
  add_input(ShardHandedBack{shard});
}

void LeaseKeeper::add_input(LeaseInput input) {
  {
    const std::lock_guard lock{mutex_};
    inputs_.push_back(std::move(input));
  }
  wake_.notify_one();
}

void LeaseKeeper::stop() {
  {
    const std::lock_guard lock{mutex_};
    if (std::exchange(stopping_, true)) {
      return;
    }
  }
  wake_.notify_one();
  turn_wanted_.notify_one();
  if (!started_) {
    return;
  }
  thread_.join();
  turn_thread_.join();
  for (std::atomic<bool>& held : held_) {
    held = false;
  }
  if (const Result<void> left = parts_.leases->leave(); !left) {
    spdlog::warn("cluster.leave_failed reason=\"{}\" next=\"the leases end by themselves\"",
                 log_safe(left.error().message));
  }
}

bool LeaseKeeper::may_send(ShardNumber shard) const {
  const MonoTime now = parts_.clock->boot_time();
  const WallTime wall = parts_.clock->now().wall;
  return held_[shard].load(std::memory_order_acquire) &&
         now.time_since_epoch().count() < held_until_.load(std::memory_order_acquire) &&
         wall.time_since_epoch().count() < held_until_wall_.load(std::memory_order_acquire);
}

LeaseCounts LeaseKeeper::counts() const {
  const std::lock_guard lock{mutex_};
  return counts_;
}

void LeaseKeeper::run() {
  step(AlarmRang{});
  while (const std::optional<std::vector<LeaseInput>> inputs = wait_for_inputs()) {
    for (const LeaseInput& input : *inputs) {
      step(input);
    }
    if (alarm_ && *alarm_ <= parts_.clock->boot_time()) {
      alarm_.reset();
      step(AlarmRang{});
    }
  }
}

std::optional<std::vector<LeaseInput>> LeaseKeeper::wait_for_inputs() {
  Micros wait = wait_max;
  if (alarm_) {
    wait = std::clamp(*alarm_ - parts_.clock->boot_time(), Micros{0}, wait_max);
  }
  std::unique_lock lock{mutex_};
  wake_.wait_for(lock, wait, [this] { return stopping_ || !inputs_.empty(); });
  if (stopping_) {
    return std::nullopt;
  }
  return std::exchange(inputs_, {});
}

void LeaseKeeper::step(const LeaseInput& input) {
  step_at_ = parts_.clock->now().wall;
  const MonoTime now = parts_.clock->boot_time();
  const WallTime answered_turn = turn_sent_at_;  // The next one may be sent in this step.
  const LeaseCommands commands = leases_.step(input, now);
  for (const LeaseCommand& command : commands) {
    std::visit([this](const auto& each) { perform(each); }, command);
  }
  has_joined_.store(leases_.has_joined(), std::memory_order_release);
  // Stored last, so that a shard that was lost in this step is not permitted by the new time.
  held_until_.store(leases_.held_until().time_since_epoch().count(), std::memory_order_release);
  if (const auto* answered = std::get_if<TurnAnswered>(&input)) {
    held_until_wall_.store((answered_turn + held_max_).time_since_epoch().count(),
                           std::memory_order_release);
    parts_.observer->cluster_seen(answered->view);
  }
}

/// Without `at_once`, attempts are made until the shard is handed back.
void LeaseKeeper::perform(const ShardLost& lost) {
  if (lost.at_once) {
    held_[lost.shard].store(false, std::memory_order_release);
  }
  parts_.observer->shard_lost(lost);
}

void LeaseKeeper::perform(const ShardAcquired& acquired) {
  held_[acquired.shard].store(true, std::memory_order_release);
  parts_.observer->shard_acquired(acquired);
}

void LeaseKeeper::perform(const RunTurn& run) {
  turn_sent_at_ = step_at_;
  {
    const std::lock_guard lock{mutex_};
    turn_ = run.turn;
  }
  turn_wanted_.notify_one();
}

void LeaseKeeper::perform(const SetAlarm& set) { alarm_ = set.at; }

/// The leases are freed by stop().
void LeaseKeeper::perform(const LeavePool&) { parts_.observer->shards_left(); }

void LeaseKeeper::run_turns() {
  RepeatedFailure failure{failure_log_period};
  std::unique_lock lock{mutex_};
  while (true) {
    turn_wanted_.wait(lock, [this] { return stopping_ || turn_; });
    if (stopping_) {
      return;
    }
    const LeaseTurn turn = *std::exchange(turn_, std::nullopt);
    lock.unlock();
    Result<ClusterView> view = parts_.leases->take_turn(turn);
    if (view) {
      failure.succeeded();
    } else if (const auto failures = failure.failed(parts_.clock->boot_time())) {
      spdlog::warn("cluster.turn_failed failures={} reason=\"{}\"", *failures,
                   log_safe(view.error().message));
    }
    lock.lock();
    ++(view ? counts_.turns : counts_.turn_failures);
    inputs_.push_back(view ? LeaseInput{TurnAnswered{*std::move(view)}} : LeaseInput{TurnFailed{}});
    wake_.notify_one();
  }
}

}  // namespace postrider
