#include "tests/simulation/sim_node.h"

#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace postrider::sim {
namespace {

constexpr Micros call_max = std::chrono::milliseconds{4'000};

NodeId id_of(std::uint32_t number) {
  NodeId id;
  id.bytes[0] = static_cast<std::uint8_t>(number >> 8);
  id.bytes[1] = static_cast<std::uint8_t>(number);
  return id;
}

}  // namespace

SimNode::SimNode(SimNetwork& network, std::uint32_t number, double rate)
    : network_(network),
      number_(number),
      id_(id_of(number)),
      rate_(rate),
      leases_({.node = id_, .pool = ""}) {}

MonoTime SimNode::local() const {
  const auto elapsed = static_cast<double>(network_.timeline().mono().time_since_epoch().count());
  return MonoTime{Micros{static_cast<std::int64_t>(elapsed * rate_)}};
}

MonoTime SimNode::true_time(MonoTime local) const {
  const auto elapsed = static_cast<double>(local.time_since_epoch().count());
  return MonoTime{Micros{static_cast<std::int64_t>(std::ceil(elapsed / rate_)) + 1}};
}

void SimNode::after(Micros delay, std::function<void()> act) {
  network_.timeline().after(delay, [this, act = std::move(act)] { arrive(act); });
}

void SimNode::arrive(std::function<void()> act) {
  if (gone_) {
    return;
  }
  if (paused_) {
    arrived_.push_back(std::move(act));
  } else {
    act();
  }
}

void SimNode::start() {
  network_.note(fmt::format("node {} starts", number_));
  started();
  step(AlarmRang{});
}

void SimNode::leave() {
  leaving_ = true;
  network_.note(fmt::format("node {} is told to leave", number_));
  arrive([this] { step(LeaveRequested{}); });
}

void SimNode::crash() {
  network_.note(fmt::format("node {} crashes", number_));
  gone_ = true;
  ended();
}

void SimNode::pause() {
  network_.note(fmt::format("node {} is paused", number_));
  paused_ = true;
}

void SimNode::resume() {
  if (!paused_ || gone_) {
    return;
  }
  network_.note(fmt::format("node {} resumes", number_));
  paused_ = false;
  resumed();
  while (!arrived_.empty() && !gone_) {
    const std::function<void()> act = std::move(arrived_.front());
    arrived_.pop_front();
    act();
  }
}

std::uint32_t SimNode::shards_held() const {
  std::uint32_t held = 0;
  for (ShardNumber shard = 0; shard < shard_count && !gone_; ++shard) {
    held += may_send(shard) ? 1 : 0;
  }
  return held;
}

void SimNode::step(const LeaseInput& input) {
  for (const LeaseCommand& command : leases_.step(input, local())) {
    std::visit([this](const auto& each) { perform(each); }, command);
  }
}

void SimNode::perform(const RunTurn& run) {
  const std::uint64_t number = ++last_turn_;
  open_turn_ = number;
  const auto end = [this, number](const LeaseInput& input) {
    if (open_turn_ == number) {
      open_turn_ = 0;
      step(input);
    }
  };
  after(call_max, [end] { end(TurnFailed{}); });
  network_.send_turn(*this, run.turn, [this, end](const ClusterView& view) {
    arrive([end, view] { end(TurnAnswered{view}); });
  });
}

void SimNode::perform(const SetAlarm& alarm) {
  const std::uint64_t number = ++alarm_;
  network_.timeline().at(true_time(alarm.at), [this, number] {
    arrive([this, number] {
      if (alarm_ == number) {
        step(AlarmRang{});
      }
    });
  });
}

void SimNode::perform(const LeavePool&) {
  network_.note(fmt::format("node {} leaves", number_));
  network_.send_leave(*this);
  gone_ = true;
  ended();
}

}  // namespace postrider::sim
