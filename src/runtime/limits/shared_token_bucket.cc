#include "runtime/limits/shared_token_bucket.h"

#include <algorithm>

#include "core/base/assert.h"

namespace postrider {
namespace {

// A worker that has not asked by then has nothing to send any more, or is too busy. Its turn
// lapses, and its token goes to the next one. The workers' alarms are far more precise than this.
constexpr Millis turn_lapse{100};

}  // namespace

std::vector<SharedTokenBucket::Turn>::iterator SharedTokenBucket::turn_of(std::size_t worker) {
  return std::ranges::find(turns_, worker, &Turn::worker);
}

MonoTime SharedTokenBucket::ask(std::size_t worker, MonoTime now) {
  std::erase_if(turns_, [&](const Turn& turn) {
    return turn.worker != worker && turn.at < now && now - turn.at > turn_lapse;
  });
  const auto turn = turn_of(worker);
  const auto place = static_cast<std::uint32_t>(turn - turns_.begin());
  const MonoTime at = bucket_.available_at(now, place + 1);
  if (at <= now) {
    return now;
  }
  if (turn == turns_.end()) {
    turns_.push_back({.worker = worker, .at = at});
  } else {
    turn->at = at;
  }
  return at;
}

void SharedTokenBucket::postpone(std::size_t worker, MonoTime until) {
  const auto turn = turn_of(worker);
  if (turn == turns_.end()) {
    turns_.push_back({.worker = worker, .at = until});
  } else {
    turn->at = until;
  }
}

void SharedTokenBucket::take(std::size_t worker, MonoTime now) {
  const bool taken = bucket_.try_take(now);
  POSTRIDER_ASSERT(taken);
  const auto turn = turn_of(worker);
  if (turn != turns_.end()) {
    turns_.erase(turn);
  }
}

void SharedTokenBucket::change(const RateLimit& limit, MonoTime now) {
  bucket_.change(limit, now);
  for (std::size_t place = 0; place < turns_.size(); ++place) {
    turns_[place].at = bucket_.available_at(now, static_cast<std::uint32_t>(place) + 1);
  }
}

std::vector<std::size_t> SharedTokenBucket::workers_waiting() const {
  std::vector<std::size_t> workers;
  for (const Turn& turn : turns_) {
    workers.push_back(turn.worker);
  }
  return workers;
}

MonoTime SharedTokenBucket::free_at(MonoTime now) const {
  return bucket_.available_at(now, static_cast<std::uint32_t>(turns_.size()) + 1);
}

}  // namespace postrider
