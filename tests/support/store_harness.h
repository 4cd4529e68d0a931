// What background work runs on, in one process: the store thread and a reader over the memory
// store, a manual clock, and a loop on the thread of the test. No sockets, no waiting for real
// time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"
#include "runtime/admin/admin_changes.h"
#include "runtime/store/reader_pool.h"
#include "runtime/store/store_thread.h"

#include "tests/support/fake_store_owner.h"
#include "tests/support/faulty_history.h"
#include "tests/support/faulty_ledger.h"
#include "tests/support/manual_loop.h"
#include "tests/support/test_digest.h"

namespace postrider::test {

class StoreHarness {
 public:
  using EditStore = std::function<void(Store&)>;

  /// Fill `memory` first. `edit_store` may replace roles of the store.
  explicit StoreHarness(MemoryStore& memory, const EditStore& edit_store = {}) : memory_(memory) {
    memory.digest = test_digest;
    real_ledger_ = make_memory_ledger(memory);
    Store store = make_memory_store(memory);
    store.ledger = std::make_unique<FaultyLedger>(*real_ledger_, [this](std::uint64_t) {
      return store_fails ? std::optional{StoreFault::lost} : std::nullopt;
    });
    store.atomically = [this](const auto& body) { return transact(body); };
    if (edit_store) {
      edit_store(store);
    }
    owner.on_deliver = [this](std::size_t, ShardReplies replies) { receive(std::move(replies)); };
    owner.on_failures_counted = [this](std::uint32_t failures) { on_streak(failures); };
    thread.emplace(
        StoreThreadOptions{.recover_pause = Millis{1}},
        StoreThread::Parts{
            .store = std::move(store), .clock = &clock, .metrics = metrics.get(), .owner = &owner});
    std::vector<Reader> all;
    all.push_back(make_memory_reader(memory));
    all.front().history =
        std::make_unique<FaultyHistory>(std::move(all.front().history), readers_fail);
    readers.emplace(std::move(all), clock);
  }

  ~StoreHarness() { stop(); }
  StoreHarness(const StoreHarness&) = delete;
  StoreHarness& operator=(const StoreHarness&) = delete;

  void start() { thread->start(); }
  /// Ends the threads. Call it before what they work for is destroyed.
  void stop() {
    readers->stop();
    thread->stop();
  }

  /// Runs `act` on the store thread, after the jobs that are queued by now, and waits for it.
  void on_store(const std::function<Result<void>(Store&, RepliesByShard&)>& act) {
    bool done = false;
    thread->submit(StoreTask{[&](Store& store, RepliesByShard& replies) {
      Result<void> result = act(store, replies);
      replies[0].completions.push_back([&done] { done = true; });
      return result;
    }});
    ASSERT_TRUE(loop.run_until([&done] { return done; }));
  }

  /// Waits until the loop, the reader and the store thread have nothing left to do.
  void settle() {
    constexpr std::size_t own = 3;  // What a round runs on the loop by itself.
    std::size_t before = 0;
    do {
      before = loop.run_count();
      bool read = false;
      readers->submit([&](Reader&) { loop.post([&read] { read = true; }); });
      ASSERT_TRUE(loop.run_until([&read] { return read; }));
      for (int i = 0; i < 2; ++i) {  // A job may queue another one.
        on_store([](Store&, RepliesByShard&) { return Result<void>{}; });
      }
    } while (loop.run_count() > before + own);
  }

  /// Moves time forward and fires the timers on the way, each at its time.
  void advance(Micros by) {
    const MonoTime end = clock.now().mono + by;
    settle();
    while (loop.next_due() && *loop.next_due() <= end) {
      clock.advance(std::max(*loop.next_due() - clock.now().mono, Micros{0}));
      loop.fire_due();
      settle();
    }
    clock.advance(end - clock.now().mono);
  }

  /// What the lanes were sent, since the last call.
  [[nodiscard]] std::vector<Input> take_inputs() {
    const std::lock_guard lock{inputs_mutex_};
    return std::exchange(inputs_, {});
  }

  [[nodiscard]] bool has_metric(const std::string& line) {
    return ("\n" + metrics->text()).find("\n" + line + "\n") != std::string::npos;
  }

  FakeStoreOwner owner;  // Before the thread that calls it.
  ManualClock clock;
  ManualLoop loop{clock};
  std::unique_ptr<Metrics> metrics = make_metrics();
  std::atomic<bool> store_fails{false};  // Every write, and reopening the store.
  std::atomic<bool> readers_fail{false};
  std::function<void(std::uint32_t)> on_streak = [](std::uint32_t) {};  // Set before start().
  std::optional<ReaderPool> readers;
  std::optional<StoreThread> thread;

 private:
  /// Unlike the memory store's own, this one undoes what `body` did before it failed.
  Result<void> transact(const std::function<Result<void>()>& body) {
    if (store_fails) {
      return fail(Errc::unavailable, "The store is made to fail.");
    }
    std::optional<MemoryStore> before;
    {
      const std::lock_guard lock{memory_.mutex};
      before.emplace(memory_);
    }
    Result<void> done = body();
    if (!done) {
      const std::lock_guard lock{memory_.mutex};
      memory_ = *before;
    }
    return done;
  }

  void receive(ShardReplies replies) {
    {
      const std::lock_guard lock{inputs_mutex_};
      std::move(replies.inputs.begin(), replies.inputs.end(), std::back_inserter(inputs_));
    }
    for (std::function<void()>& completion : replies.completions) {
      loop.post(std::move(completion));
    }
  }

  MemoryStore& memory_;
  std::unique_ptr<Ledger> real_ledger_;
  std::mutex inputs_mutex_;
  std::vector<Input> inputs_;  // Guarded by inputs_mutex_.
};

}  // namespace postrider::test
