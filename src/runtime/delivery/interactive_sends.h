// Requests that a person waits for: probes of a receiver, and test events through a webhook's lane.
// Few at a time. Any io thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/admin/service.h"
#include "runtime/delivery/worker.h"

namespace postrider {

class InteractiveSends {
 public:
  explicit InteractiveSends(std::uint32_t at_once_max) : at_once_max_(at_once_max) {}

  /// `home` is the worker whose thread this is.
  Awaitable<Result<Outcome>> probe(Worker& home, Probe probe);

  /// `owner` has the webhook's lane. `test` lacks only its `done`.
  Awaitable<Result<TestSent>> send_test(Worker& home, Worker& owner, TestSend test);

 private:
  std::uint32_t at_once_max_;
  std::atomic<std::uint32_t> under_way_{0};
};

/// The event with its one delivery, tried once and before others.
[[nodiscard]] TestSend plan_test(const Webhook& webhook, Event event, DeliveryId id, WallTime due);

}  // namespace postrider
