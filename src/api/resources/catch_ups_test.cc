#include "api/resources/catch_ups.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

namespace postrider::api {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

const MonoTime start{1h};

/// Each call takes until release().
class SlowStore final : public SharedStore {
 public:
  [[nodiscard]] bool is_shared() const override { return true; }
  [[nodiscard]] std::optional<ClusterStatus> cluster() const override { return std::nullopt; }

  Awaitable<void> catch_up() override {
    ++calls;
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto gate =
        std::make_shared<asio::steady_timer>(executor, asio::steady_timer::time_point::max());
    gate_ = gate;
    try {
      co_await gate->async_wait(asio::use_awaitable);
    } catch (const boost::system::system_error&) {  // Cancelled: released.
    }
  }

  void release() {
    if (const auto gate = gate_.lock()) {
      gate->cancel();
    }
  }

  int calls = 0;

 private:
  std::weak_ptr<asio::steady_timer> gate_;
};

struct Waits {
  void add(asio::io_context& io) {
    asio::co_spawn(io, all.wait(store), [this](const std::exception_ptr&) { ++done; });
  }

  SlowStore store;
  CatchUps all;
  int done = 0;
};

void poll(asio::io_context& io) {
  io.restart();
  io.poll();
}

TEST(CatchUps, ThoseWhoArriveDuringACallShareTheNextOne) {
  Waits waits;
  asio::io_context io;
  waits.add(io);
  poll(io);
  EXPECT_EQ(waits.store.calls, 1);
  for (int number = 0; number < 5; ++number) {
    waits.add(io);
  }
  poll(io);
  EXPECT_EQ(waits.store.calls, 1) << "one at a time";

  waits.store.release();
  poll(io);
  EXPECT_EQ(waits.done, 1) << "the running call may have begun too early for the others";
  EXPECT_EQ(waits.store.calls, 2);
  waits.add(io);
  poll(io);
  waits.store.release();
  poll(io);
  EXPECT_EQ(waits.done, 6);
  EXPECT_EQ(waits.store.calls, 3);
  waits.store.release();
  poll(io);
  EXPECT_EQ(waits.done, 7);
  EXPECT_EQ(waits.store.calls, 3);
}

TEST(CatchUps, AnotherThreadGoesOnWhenTheCallerIsDestroyed) {
  Waits waits;
  asio::io_context io;
  {
    asio::io_context destroyed;
    waits.add(destroyed);
    poll(destroyed);
    waits.add(io);
    poll(io);
    EXPECT_EQ(waits.store.calls, 1);
  }
  poll(io);
  EXPECT_EQ(waits.store.calls, 2);
  waits.store.release();
  poll(io);
  EXPECT_EQ(waits.done, 1);
}

TEST(CatchUps, ADestroyedWaiterIsPassedOver) {
  Waits waits;
  asio::io_context io;
  waits.add(io);
  poll(io);
  {
    asio::io_context destroyed;
    waits.add(destroyed);
    poll(destroyed);
  }
  waits.store.release();
  poll(io);
  EXPECT_EQ(waits.done, 1);
  waits.add(io);
  poll(io);
  EXPECT_EQ(waits.store.calls, 2);
}

/// Counts how many calls run at once.
class CountingStore final : public SharedStore {
 public:
  [[nodiscard]] bool is_shared() const override { return true; }
  [[nodiscard]] std::optional<ClusterStatus> cluster() const override { return std::nullopt; }

  Awaitable<void> catch_up() override {
    overlaps += running++ > 0 ? 1 : 0;
    ++calls;
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    auto turn = asio::post(executor, asio::use_awaitable);
    co_await std::move(turn);
    --running;
  }

  std::atomic<int> running{0};
  std::atomic<int> overlaps{0};
  std::atomic<int> calls{0};
};

Awaitable<void> wait_often(CatchUps& all, SharedStore& store, int times) {
  for (int number = 0; number < times; ++number) {
    auto waiting = all.wait(store);
    co_await std::move(waiting);
  }
}

TEST(CatchUps, ThreadsShareCalls) {
  constexpr int threads_count = 4;
  constexpr int coroutines = 8;
  constexpr int times = 200;
  CountingStore store;
  CatchUps all;
  std::atomic<int> done{0};
  std::vector<std::unique_ptr<asio::io_context>> contexts;
  for (int number = 0; number < threads_count; ++number) {
    contexts.push_back(std::make_unique<asio::io_context>(1));
    for (int each = 0; each < coroutines; ++each) {
      asio::co_spawn(*contexts.back(), wait_often(all, store, times),
                     [&done](const std::exception_ptr& error) { done += error ? 0 : 1; });
    }
  }
  std::vector<std::thread> threads;
  for (const auto& context : contexts) {
    threads.emplace_back([&context] { context->run(); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(done, threads_count * coroutines);
  EXPECT_EQ(store.overlaps, 0);
  EXPECT_LT(store.calls, threads_count * coroutines * times);
}

TEST(CatchUps, AClientThatWaitsInVainMayDoSoAFewTimesPerSecond) {
  CatchUps all;
  for (std::uint32_t number = 0; number < fruitless_catch_ups.burst; ++number) {
    EXPECT_TRUE(all.may_wait("a", start));
    EXPECT_TRUE(all.may_wait("a", start)) << "asking costs nothing";
    all.count_fruitless("a", start);
  }
  EXPECT_FALSE(all.may_wait("a", start));
  EXPECT_TRUE(all.may_wait("b", start));
  EXPECT_FALSE(all.may_wait("a", start + 199ms));
  EXPECT_TRUE(all.may_wait("a", start + 200ms));
}

}  // namespace
}  // namespace postrider::api
