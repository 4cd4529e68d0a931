#include "tests/simulation/sim_lease_node.h"

#include <utility>

namespace postrider::sim {
namespace {

/// A node ends its attempts within this time if a shard is lost at once.
constexpr std::uint64_t abort_max_us = 1'000'000;

}  // namespace

void SimLeaseNode::resumed() {
  for (auto& [id, attempt] : attempts_) {
    if (!attempt.sent_before_pause && has_expired()) {
      attempt.sent_before_pause = true;
      --work_[attempt.shard].current_attempts;
    }
  }
  // The threads that send run before the one that makes the next step.
  for (int i = 0; i < 20; ++i) {
    try_send();
  }
}

bool SimLeaseNode::works(ShardNumber shard) const {
  return !is_gone() && !is_paused() && (may_send(shard) || work_[shard].current_attempts > 0);
}

void SimLeaseNode::perform(const ShardAcquired& acquired) {
  Work& work = work_[acquired.shard];
  work = {.epoch = acquired.epoch,
          .attempts = work.attempts,
          .current_attempts = work.current_attempts,
          .is_lost = false,
          .tenure = work.tenure + 1};
  cluster_.acquired(*this, {.shard = acquired.shard, .epoch = acquired.epoch});
}

void SimLeaseNode::perform(const ShardLost& lost) {
  Work& work = work_[lost.shard];
  const bool is_first = !std::exchange(work.is_lost, true);
  cluster_.lost(*this, {.shard = lost.shard, .epoch = lost.epoch});
  if (lost.at_once && work.attempts > 0) {
    const auto delay = static_cast<std::int64_t>(
        static_cast<double>(cluster_.random().below(abort_max_us)) / rate());
    after(Micros{delay}, [this, shard = lost.shard, tenure = work.tenure] {
      if (work_[shard].tenure == tenure) {
        abort_attempts(shard);
      }
    });
  }
  if (is_first) {
    hand_back_if_idle(lost.shard);
  }
}

// ---------------------------------------------------------------- attempts

void SimLeaseNode::send_sometimes() {
  try_send();
  const auto pause = static_cast<std::int64_t>(1'000 + cluster_.random().below(100'000));
  after(Micros{pause}, [this] { send_sometimes(); });
}

void SimLeaseNode::try_send() {
  const auto shard = static_cast<ShardNumber>(cluster_.random().below(shard_count));
  if (!may_send(shard) || work_[shard].is_lost) {
    return;
  }
  Work& work = work_[shard];
  cluster_.sent(*this, {.shard = shard, .epoch = work.epoch});
  ++work.attempts;
  ++work.current_attempts;
  const std::uint64_t id = ++last_attempt_;
  attempts_[id] = {.shard = shard};
  after(cluster_.attempt_time(), [this, id] { end_attempt(id); });
}

void SimLeaseNode::end_attempt(std::uint64_t id) {
  const auto attempt = attempts_.find(id);
  if (attempt == attempts_.end()) {
    return;
  }
  const ShardNumber shard = attempt->second.shard;
  --work_[shard].attempts;
  work_[shard].current_attempts -= attempt->second.sent_before_pause ? 0 : 1;
  attempts_.erase(attempt);
  if (work_[shard].is_lost) {
    hand_back_if_idle(shard);
  }
}

void SimLeaseNode::abort_attempts(ShardNumber shard) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, attempt] : attempts_) {
    if (attempt.shard == shard) {
      ids.push_back(id);
    }
  }
  for (const std::uint64_t id : ids) {
    end_attempt(id);
  }
}

void SimLeaseNode::hand_back_if_idle(ShardNumber shard) {
  if (work_[shard].attempts > 0) {
    return;
  }
  const auto delay = static_cast<std::int64_t>(1 + cluster_.random().below(20'000));
  after(Micros{delay}, [this, shard] { step(ShardHandedBack{.shard = shard}); });
}

}  // namespace postrider::sim
