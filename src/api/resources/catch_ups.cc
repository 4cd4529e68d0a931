#include "api/resources/catch_ups.h"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

namespace postrider::api {
namespace {

namespace asio = boost::asio;

}  // namespace

/// A coroutine that waits for its turn, or for the end of the call that it shares.
struct CatchUps::Waiter {
  explicit Waiter(const asio::any_io_executor& executor)
      : timer(executor, asio::steady_timer::time_point::max()) {}

  /// Any thread.
  static void wake(const std::weak_ptr<Waiter>& waiter, bool leads) {
    const std::shared_ptr<Waiter> living = waiter.lock();
    if (!living) {
      return;
    }
    asio::post(living->timer.get_executor(), [waiter, leads] {
      if (const std::shared_ptr<Waiter> woken = waiter.lock()) {
        woken->leads = leads;
        woken->is_awake = true;
        woken->timer.cancel();
      }
    });
  }

  asio::steady_timer timer;  // Never expires; cancelled to wake the coroutine.
  bool leads = false;
  bool is_awake = false;
};

class CatchUps::Turn {
 public:
  explicit Turn(CatchUps& all) : all_(all), sharers_(all.take_waiters()) {}
  ~Turn() {
    for (const std::weak_ptr<Waiter>& sharer : sharers_) {
      Waiter::wake(sharer, /*leads=*/false);
    }
    all_.pass_on();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  CatchUps& all_;
  Waiters sharers_;  // They called before this turn began.
};

CatchUps::Waiters CatchUps::take_waiters() {
  const std::lock_guard lock{mutex_};
  return std::exchange(next_, {});
}

void CatchUps::pass_on() {
  const std::lock_guard lock{mutex_};
  std::erase_if(next_, [](const std::weak_ptr<Waiter>& waiter) { return waiter.expired(); });
  is_running_ = !next_.empty();
  if (is_running_) {
    Waiter::wake(next_.back(), /*leads=*/true);
    next_.pop_back();
  }
}

Awaitable<bool> CatchUps::join() {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto waiter = std::make_shared<Waiter>(executor);
  {
    const std::lock_guard lock{mutex_};
    if (!std::exchange(is_running_, true)) {
      co_return true;
    }
    next_.emplace_back(waiter);
  }
  while (!waiter->is_awake) {
    auto waiting = waiter->timer.async_wait(asio::as_tuple(asio::deferred));
    (void)co_await std::move(waiting);
  }
  co_return waiter->leads;
}

Awaitable<void> CatchUps::wait(SharedStore& store) {
  auto joining = join();
  const bool leads = co_await std::move(joining);
  if (leads) {
    const Turn turn{*this};
    auto catching_up = store.catch_up();
    co_await std::move(catching_up);
  }
}

}  // namespace postrider::api
