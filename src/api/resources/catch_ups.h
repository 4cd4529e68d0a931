// Waits, on behalf of requests, for what other servers on the same store have changed. A wait costs
// a round trip to the database, so waits are combined, and fruitless ones are limited by client.
// Any io thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/policy/token_bucket.h"

#include "api/resources/request_limiter.h"
#include "runtime/admin/service.h"

namespace postrider::api {

/// The limit of each client. A client whose key was just created on another server needs one wait,
/// which is not fruitless. A client that guesses keys is soon refused without a wait.
constexpr RateLimit fruitless_catch_ups{.count = 5, .period = Millis{1'000}, .burst = 20};

class CatchUps {
 public:
  CatchUps() = default;
  CatchUps(const CatchUps&) = delete;
  CatchUps& operator=(const CatchUps&) = delete;

  /// Returns when the snapshots include everything that any server had answered before this call.
  /// One call of SharedStore::catch_up runs at a time; those who arrive meanwhile share the next.
  /// `store` must be the same every time. It and this object must outlive the coroutine.
  [[nodiscard]] Awaitable<void> wait(SharedStore& store);

  /// Whether a client that was refused, or has no key, may wait.
  [[nodiscard]] bool may_wait(const std::string& client, MonoTime now) {
    return limiter_.has_token(client, fruitless_catch_ups, now);
  }
  /// Call when the client has waited and is still refused or has no valid key.
  void count_fruitless(const std::string& client, MonoTime now) {
    (void)limiter_.take(client, fruitless_catch_ups, now);
  }

 private:
  struct Waiter;
  using Waiters = std::vector<std::weak_ptr<Waiter>>;
  /// Ends the call when it is destroyed, even if its coroutine is destroyed at shutdown.
  class Turn;

  /// Returns true if this caller must make the next call, for all waiters. Returns false when
  /// another caller has made it.
  Awaitable<bool> join();
  [[nodiscard]] Waiters take_waiters();
  /// Makes one of the waiters the caller of the next call.
  void pass_on();

  std::mutex mutex_;  // Guards the next two.
  bool is_running_ = false;
  Waiters next_;  // For the next call. Each lives in its coroutine.
  RequestLimiter limiter_;
};

}  // namespace postrider::api
