#include "runtime/delivery/interactive_sends.h"

#include <utility>

#include <boost/asio/post.hpp>

#include "core/policy/retry.h"

#include "runtime/store/await_callback.h"

namespace postrider {
namespace {

// Added to the attempt's own timeout: time for the lane to start it and the store to keep it.
constexpr Millis test_patience{2'000};

/// Counts one running request while it lives.
class RunningCount {
 public:
  explicit RunningCount(std::atomic<std::uint32_t>& running)
      : running_(running), number_(++running) {}
  ~RunningCount() { --running_; }
  RunningCount(const RunningCount&) = delete;
  RunningCount& operator=(const RunningCount&) = delete;

  [[nodiscard]] bool within(std::uint32_t count) const { return number_ <= count; }

 private:
  std::atomic<std::uint32_t>& running_;
  std::uint32_t number_;
};

}  // namespace

TestSend plan_test(const Webhook& webhook, Event event, DeliveryId id, WallTime due) {
  event.source = test_source;
  TestSend test{.publish = {}, .patience = attempt_timeout(webhook.retry, 1) + test_patience};
  test.publish.deliveries.push_back({.id = id,
                                     .event_id = event.id,
                                     .webhook_id = webhook.id,
                                     .event_type = event.type,
                                     .priority = Priority::high,
                                     .trigger = Trigger::test,
                                     .due = due});
  test.publish.event = std::move(event);
  return test;
}

Awaitable<Result<Outcome>> InteractiveSends::probe(Worker& home, Probe probe) {
  const RunningCount count{running_};
  if (!count.within(at_once_max_)) {
    co_return fail(Errc::unavailable, "Too many receivers are being tried out. Retry soon.");
  }
  auto begin = [&](const std::function<void(Result<Outcome>)>& resume) {
    probe.done = [resume](Outcome outcome) { resume(std::move(outcome)); };
    home.probe(std::move(probe));
  };
  co_return co_await await_callback<Result<Outcome>>(begin);
}

Awaitable<Result<TestSent>> InteractiveSends::send_test(Worker& home, Worker& owner,
                                                        TestSend test) {
  const RunningCount count{running_};
  if (!count.within(at_once_max_)) {
    co_return fail(Errc::unavailable, "Too many receivers are being tried out. Retry soon.");
  }
  using Attempted = Result<std::optional<Settlement>>;
  const DeliveryId id = test.publish.deliveries.front().id;
  auto begin = [&](const std::function<void(Attempted)>& resume) {
    test.done = [&io = home.io(), resume](Attempted attempted) {
      boost::asio::post(io, [resume, attempted = std::move(attempted)]() mutable {
        resume(std::move(attempted));
      });
    };
    owner.send_test(std::move(test));
  };
  Attempted attempted = co_await await_callback<Attempted>(begin);
  if (!attempted) {
    co_return tl::make_unexpected(attempted.error());
  }
  TestSent sent{.delivery_id = id};
  if (*attempted) {
    sent.attempt = std::move((*attempted)->attempt);
    sent.request = std::move((*attempted)->request);
  }
  co_return sent;
}

Awaitable<Result<TestSent>> InteractiveSends::limited(Awaitable<Result<TestSent>> send) {
  const RunningCount count{running_};
  if (!count.within(at_once_max_)) {
    co_return fail(Errc::unavailable, "Too many receivers are being tried out. Retry soon.");
  }
  co_return co_await std::move(send);
}

}  // namespace postrider
