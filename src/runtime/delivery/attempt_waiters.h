// The callers that wait for the next attempt of one delivery, each until a deadline. Used by the
// thread that owns the delivery's lane.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "engine/shard/messages.h"

namespace postrider {

class AttemptWaiters {
 public:
  /// The settlement with the attempt; nullopt if the deadline has passed or another node will make
  /// the attempt; or the reason why there will be none.
  using Done = std::function<void(Result<std::optional<Settlement>>)>;

  /// `done` runs once: when the attempt is on disk, at the deadline, or on failure.
  void add(const LaneDelivery& delivery, MonoTime deadline, Done done);

  /// The attempt was made and is not on disk yet.
  void attempted(const Settlement& settlement);
  void settled(const Settled& settled);
  void fail(DeliveryId id, const Error& error);
  void fail_all(const Error& error);

  /// The attempts of these webhooks are made by another node.
  void handed_back(ShardNumber shard);
  /// Ends those whose deadline has passed.
  void expire(MonoTime now);
  /// Returns nullopt if nobody waits.
  [[nodiscard]] std::optional<MonoTime> next_deadline() const;

 private:
  struct Waiter {
    Done done;
    MonoTime deadline;
    ShardNumber shard = 0;
    std::optional<Settlement> settlement = std::nullopt;  // Made, not yet on disk.
  };

  template <class Which>
  void end_without_attempt(Which which);
  void end(DeliveryId id, Result<std::optional<Settlement>> result);

  std::unordered_map<DeliveryId, Waiter> waiters_;  // A few tens at most.
};

}  // namespace postrider
