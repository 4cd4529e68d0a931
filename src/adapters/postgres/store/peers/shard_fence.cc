#include "adapters/postgres/store/peers/shard_fence.h"

#include <utility>

namespace postrider::postgres {

void ShardFence::add(ShardNumber shard) {
  if (!asked_.test(shard) && held_.holds(shard)) {
    asked_.set(shard);
    added_.push_back(shard);
  }
}

void ShardFence::add_decision(ShardNumber shard) {
  add(shard);
  if (held_.has_joined() && !held_.holds(shard)) {
    lost_.set(shard);
  }
}

void ShardFence::queue(Session& session) {
  if (!added_.empty()) {
    answer_ = start().queue(session);
  }
}

void ShardFence::take(const std::vector<Rows>& answers) {
  if (answer_) {
    finish(LeaseFence::lost(answers[*answer_]));
    answer_.reset();
  }
}

LeaseFence ShardFence::start() {
  LeaseFence fence;
  for (const ShardNumber shard : added_) {
    fence.add(held_.pool(), {.shard = shard, .epoch = held_.epochs().at(shard)});
  }
  sent_ = std::exchange(added_, {});
  return fence;
}

void ShardFence::finish(const std::vector<std::size_t>& lost) {
  for (const ShardNumber shard : sent_) {
    verified_.set(shard);
  }
  for (const std::size_t place : lost) {
    verified_.reset(sent_[place]);
    lost_.set(sent_[place]);
  }
}

Result<void> ShardFence::check(Session& session) {
  queue(session);
  if (answer_) {
    POSTRIDER_TRY(const std::vector<Rows> answers, session.exchange());
    take(answers);
  }
  return {};
}

std::vector<ShardNumber> ShardFence::lost() const {
  std::vector<ShardNumber> shards;
  for (ShardNumber shard = 0; shard < shard_count; ++shard) {
    if (lost_.test(shard)) {
      shards.push_back(shard);
    }
  }
  return shards;
}

}  // namespace postrider::postgres
