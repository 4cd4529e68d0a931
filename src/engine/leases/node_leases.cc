#include "engine/leases/node_leases.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/assert.h"
#include "core/base/earliest.h"
#include "engine/leases/shard_plan.h"

namespace postrider {
namespace {

/// While changes are expected, the pause between turns is the time since the last change divided by
/// this. A change is noticed soon, and a long wait costs few turns.
constexpr int wait_share = 8;
/// After a failure there is time for several more turns before the lease ends.
constexpr int retries_per_lease = 25;

}  // namespace

NodeLeases::NodeLeases(LeaseOptions options) : options_(std::move(options)) {
  POSTRIDER_ASSERT(options_.turn_pause <= turn_interval());
  // A renewal that fails once must not lose the lease.
  POSTRIDER_ASSERT(options_.margin + 2 * turn_interval() <= options_.length);
}

LeaseCommands NodeLeases::step(const LeaseInput& input, MonoTime now) {
  if (left_) {
    return {};
  }
  lose_expired(now);
  std::visit([&](const auto& each) { on(each, now); }, input);
  if (hand_over_at_ && now >= *hand_over_at_) {
    hand_over();
  }
  if (is_finished()) {
    left_ = true;
    commands_.emplace_back(LeavePool{});
    return std::exchange(commands_, {});
  }
  if (!turn_running_ && now >= next_turn_) {
    start_turn(now);
  }
  set_alarm(now);
  return std::exchange(commands_, {});
}

void NodeLeases::lose_expired(MonoTime now) {
  if (now < held_until_) {
    return;
  }
  for (ShardNumber shard = 0; shard < shard_count; ++shard) {
    lose(shard, true);
  }
}

/// Has no effect on a shard that is not worked or is already lost.
void NodeLeases::lose(ShardNumber shard, bool at_once) {
  Place& place = shards_[shard];
  const bool is_held = place.stage == Stage::held;
  if (!is_held && (place.stage != Stage::stopping || place.hurried || !at_once)) {
    return;
  }
  place.stage = Stage::stopping;
  place.hurried = at_once;
  commands_.emplace_back(ShardLost{.shard = shard, .epoch = place.epoch, .at_once = at_once});
}

void NodeLeases::on(const TurnAnswered& answer, MonoTime now) {
  POSTRIDER_ASSERT(turn_running_);
  POSTRIDER_ASSERT(answer.view.leases.size() == shard_count);
  turn_running_ = false;
  held_until_ = turn_sent_ + options_.length - options_.margin;
  const ClusterView& view = answer.view;
  for (ShardNumber shard = 0; shard < shard_count; ++shard) {
    compare(shard, view.leases[shard]);
  }
  if (leaving_ && turn_.leaving) {
    prepare_leaving(view, now);
  }
  const ShardPlan plan = plan_shards(view, options_.pool, established_after());
  take_.clear();
  for (ShardNumber shard = 0; shard < shard_count; ++shard) {
    const bool wanted = !leaving_ && plan[shard] == options_.node;
    if (view.leases[shard].is_held_by(options_.node)) {
      decide(shard, view.leases[shard], wanted, now);
    } else if (wanted && shards_[shard].stage == Stage::absent) {
      take_.push_back(shard);
    }
  }
  has_joined_ = has_joined_ || take_.empty();
  plan_next_turn(view, now);
}

void NodeLeases::compare(ShardNumber shard, const Lease& lease) {
  Place& place = shards_[shard];
  if (lease.is_held_by(options_.node) && lease.epoch == place.epoch) {
    return;
  }
  lose(shard, true);
  if (place.stage != Stage::stopping) {
    place = {};
  }
}

void NodeLeases::decide(ShardNumber shard, const Lease& lease, bool wanted, MonoTime now) {
  Place& place = shards_[shard];
  // A leaving node works its shards until the others are ready to take them.
  const bool kept = wanted || (leaving_ && !handing_over_);
  switch (place.stage) {
    case Stage::held:
      if (!kept) {
        lose(shard, false);
      }
      return;
    case Stage::absent:
      place.epoch = lease.epoch;
      place.stage = wanted ? Stage::held : Stage::releasing;
      break;
    case Stage::stopping:
    case Stage::releasing:
      return;
  }
  if (place.stage != Stage::held) {
    return;
  }
  if (now >= held_until_) {  // The answer is late.
    place = {};
    return;
  }
  commands_.emplace_back(ShardAcquired{.shard = shard, .epoch = place.epoch});
}

void NodeLeases::on(const TurnFailed&, MonoTime now) {
  POSTRIDER_ASSERT(turn_running_);
  turn_running_ = false;
  take_.clear();  // Others may have taken them.
  next_turn_ = std::max(now, turn_sent_ + options_.length / retries_per_lease);
}

void NodeLeases::on(const ShardHandedBack& handed_back, MonoTime) {
  Place& place = shards_[handed_back.shard];
  POSTRIDER_ASSERT(place.stage == Stage::stopping);
  place.stage = Stage::releasing;
  place.hurried = false;
  next_turn_ = std::min(next_turn_, turn_sent_ + options_.turn_pause);
}

void NodeLeases::on(const LeaveRequested&, MonoTime now) {
  if (leaving_) {
    return;
  }
  leaving_ = true;
  take_.clear();
  next_turn_ = now;
}

void NodeLeases::on(const AlarmRang&, MonoTime) { alarm_.reset(); }

/// The shards are handed over when the other nodes know that this one is leaving, because they then
/// take turns often. Half a lease is enough for one turn of each node.
void NodeLeases::prepare_leaving(const ClusterView& view, MonoTime now) {
  const bool is_first = !unaware_.has_value();
  std::map<NodeId, std::uint64_t> still_unaware;
  for (const ClusterNode& node : view.nodes) {
    const NodeIdentity& other = node.identity;
    if (other.pool != options_.pool || other.id == options_.node || node.leaving) {
      continue;
    }
    if (is_first) {
      still_unaware.emplace(other.id, node.turns);
    } else if (const auto before = unaware_->find(other.id);
               before != unaware_->end() && before->second == node.turns) {
      still_unaware.insert(*before);
    }
  }
  unaware_ = std::move(still_unaware);
  if (is_first) {
    hand_over_at_ = now + options_.length / 2;
  }
  if (unaware_->empty()) {
    hand_over();
  }
}

void NodeLeases::hand_over() {
  handing_over_ = true;
  hand_over_at_.reset();
  for (ShardNumber shard = 0; shard < shard_count; ++shard) {
    if (shards_[shard].stage == Stage::held) {
      lose(shard, false);
    }
  }
}

/// LeavePool frees the shards that are still to be released.
bool NodeLeases::is_finished() const { return leaving_ && !turn_running_ && !is_working(); }

bool NodeLeases::is_working() const {
  return std::ranges::any_of(shards_, [](const Place& place) {
    return place.stage == Stage::held || place.stage == Stage::stopping;
  });
}

void NodeLeases::plan_next_turn(const ClusterView& view, MonoTime now) {
  const bool expected_changes = std::exchange(expects_changes_, expects_changes(view));
  if (!expected_changes || view.leases != seen_leases_) {
    waiting_since_ = now;
    seen_leases_ = view.leases;
  }
  Micros pause = turn_interval();
  if (expects_changes_) {
    pause = std::clamp<Micros>((now - waiting_since_) / wait_share, options_.turn_pause, pause);
  }
  for (const ClusterNode& node : view.nodes) {
    // Another node may have crashed. Its shards can be taken when its leases have expired.
    if (node.identity.pool == options_.pool) {
      pause = std::min<Micros>(pause, node.left + options_.turn_pause);
    }
  }
  next_turn_ = turn_sent_ + pause;
}

bool NodeLeases::expects_changes(const ClusterView& view) const {
  const bool is_new = std::ranges::any_of(view.nodes, [this](const ClusterNode& node) {
    return node.identity.id == options_.node && node.age < established_after();
  });
  return leaving_ || is_new || !take_.empty() ||
         std::ranges::any_of(shards_,
                             [](const Place& place) { return place.stage == Stage::releasing; });
}

void NodeLeases::start_turn(MonoTime now) {
  turn_ = {.length = options_.length, .leaving = leaving_, .release = {}, .take = take_};
  for (ShardNumber shard = 0; shard < shard_count; ++shard) {
    if (shards_[shard].stage == Stage::releasing) {
      turn_.release.push_back({.shard = shard, .epoch = shards_[shard].epoch});
    }
  }
  turn_running_ = true;
  turn_sent_ = now;
  commands_.emplace_back(RunTurn{turn_});
}

void NodeLeases::set_alarm(MonoTime now) {
  std::optional<MonoTime> at = hand_over_at_;
  if (!turn_running_) {
    at = earliest(at, std::optional{next_turn_});
  }
  const bool something_ends = std::ranges::any_of(shards_, [](const Place& place) {
    return place.stage == Stage::held || (place.stage == Stage::stopping && !place.hurried);
  });
  if (something_ends) {
    at = earliest(at, std::optional{held_until_});
  }
  POSTRIDER_ASSERT(!at || *at > now);
  if (at && at != alarm_) {
    alarm_ = at;
    commands_.emplace_back(SetAlarm{*at});
  }
}

}  // namespace postrider
