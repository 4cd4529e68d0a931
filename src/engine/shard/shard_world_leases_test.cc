// The parts of the webhooks in ShardWorld: they are acquired and lost at random.
#include <utility>

#include <gtest/gtest.h>

#include "engine/shard/shard_world_test.h"

namespace postrider::test {

void ShardWorld::acquire_or_lose() {
  const ShardNumber shard = shard_of(webhooks_[random_.below(webhooks_.size())]);
  Part& part = parts_[shard];
  if (part.state == PartState::absent) {
    ask_for(shard);
    return;
  }
  const bool at_once = with_probability(50);
  if ((part.state == PartState::leaving || part.state == PartState::ending) && !at_once) {
    return;
  }
  part.state = at_once ? PartState::ending : PartState::leaving;
  driver_.feed(ShardLost{.shard = shard, .epoch = part.epoch, .at_once = at_once});
}

void ShardWorld::ask_for(ShardNumber shard) {
  Part& part = parts_[shard];
  if (leased_ && part.state == PartState::absent) {
    part = {.state = PartState::asked, .epoch = part.epoch + 1};
    jobs_.push_back(Acquire{.shard = shard, .epoch = part.epoch});
  }
}

/// The part may be lost by now.
void ShardWorld::acquire(const Acquire& job) {
  Part& part = parts_[job.shard];
  if (part.state == PartState::asked && part.epoch == job.epoch) {
    part.state = PartState::worked;
  }
  driver_.feed(ShardAcquired{.shard = job.shard, .epoch = job.epoch});
  for (const WebhookId id : webhooks_) {
    if (shard_of(id) == job.shard) {
      tell(id, true);
    }
  }
}

void ShardWorld::end_attempts(ShardNumber shard) {
  std::vector<StartAttempt> ended;
  std::erase_if(in_flight_, [&](StartAttempt& start) {
    const bool is_of_shard = shard_of(start.delivery.webhook_id) == shard;
    if (is_of_shard) {
      ended.push_back(std::move(start));
    }
    return is_of_shard;
  });
  for (const StartAttempt& start : ended) {
    driver_.feed(AttemptAbandoned{start.delivery.webhook_id, start.delivery.id});
  }
}

void ShardWorld::part_handed_back(ShardNumber shard) {
  EXPECT_TRUE(parts_[shard].state == PartState::leaving ||
              parts_[shard].state == PartState::ending);
  for (const StartAttempt& start : in_flight_) {
    EXPECT_NE(shard_of(start.delivery.webhook_id), shard) << "an attempt is still in flight";
  }
  parts_[shard].state = PartState::absent;
  if (!with_faults_) {
    ask_for(shard);
  }
}

bool ShardWorld::is_worked(WebhookId id) const {
  return !leased_ || parts_.at(shard_of(id)).state == PartState::worked;
}

bool ShardWorld::may_start(WebhookId id) const {
  return is_worked(id) || parts_.at(shard_of(id)).state == PartState::leaving;
}

}  // namespace postrider::test
