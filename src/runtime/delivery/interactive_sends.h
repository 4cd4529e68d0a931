// Requests that an API caller waits for: probes of a receiver, and test events sent through a
// webhook's lane. Bounds how many run at once. Any io thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/admin/service.h"
#include "runtime/delivery/worker.h"

namespace postrider {

class InteractiveSends {
 public:
  explicit InteractiveSends(std::uint32_t at_once_max) : at_once_max_(at_once_max) {}

  // `home` is the worker whose thread this is. All fail with unavailable if too many run.
  Awaitable<Result<Outcome>> probe(Worker& home, Probe probe);

  /// `owner` is the worker with the webhook's lane. `test.done` is set here.
  Awaitable<Result<TestSent>> send_test(Worker& home, Worker& owner, TestSend test);
  /// `send` sends a test in another way. It does not begin if too many run.
  Awaitable<Result<TestSent>> limited(Awaitable<Result<TestSent>> send);

 private:
  std::uint32_t at_once_max_;
  std::atomic<std::uint32_t> running_{0};
};

/// An event with one delivery, of high priority and attempted once.
[[nodiscard]] TestSend plan_test(const Webhook& webhook, Event event, DeliveryId id, WallTime due);

}  // namespace postrider
