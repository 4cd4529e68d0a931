// Who waits for a certain delivery's next attempt, and for how long. One io thread: the one that
// owns the delivery's lane.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include <boost/asio/io_context.hpp>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "engine/shard/shard.h"

namespace postrider {

class AttemptWaiters {
 public:
  /// The settlement with the attempt, none when it did not come in time, or why it will not come.
  using Done = std::function<void(Result<std::optional<Settlement>>)>;

  explicit AttemptWaiters(boost::asio::io_context& io);
  ~AttemptWaiters();
  AttemptWaiters(const AttemptWaiters&) = delete;
  AttemptWaiters& operator=(const AttemptWaiters&) = delete;

  /// `done` runs once, on this thread, when the attempt is on disk or `patience` is over.
  void add(DeliveryId id, Millis patience, Done done);

  void attempted(const Settlement& settlement);
  void settled(const Settled& settled);
  void fail(DeliveryId id, const Error& error);
  void fail_all(const Error& error);

 private:
  struct Watch;

  void end(DeliveryId id, Result<std::optional<Settlement>> result);

  boost::asio::io_context& io_;
  std::unordered_map<DeliveryId, std::unique_ptr<Watch>> watches_;
};

}  // namespace postrider
