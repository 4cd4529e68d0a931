#include "runtime/store/reader_pool.h"

#include <atomic>
#include <chrono>
#include <future>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/support/manual_clock.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

const test::ManualClock still_clock;

std::vector<Reader> make_readers(MemoryStore& store, int count) {
  std::vector<Reader> readers;
  for (int i = 0; i < count; ++i) {
    readers.push_back(make_memory_reader(store));
  }
  return readers;
}

TEST(ReaderPool, GivesEachThreadAReaderOfItsOwn) {
  MemoryStore store;
  // Each job waits for the other one, so that both run at the same time.
  std::promise<Reader*> first;
  std::promise<Reader*> second;
  const std::shared_future<Reader*> first_reader = first.get_future().share();
  const std::shared_future<Reader*> second_reader = second.get_future().share();
  ReaderPool pool{make_readers(store, 2), still_clock};
  pool.submit([&](Reader& reader) {
    first.set_value(&reader);
    second_reader.wait_for(10s);
  });
  pool.submit([&](Reader& reader) {
    second.set_value(&reader);
    first_reader.wait_for(10s);
  });
  ASSERT_EQ(second_reader.wait_for(10s), std::future_status::ready);
  EXPECT_NE(first_reader.get(), second_reader.get());
}

TEST(ReaderPool, OneOwnerCannotHoldEveryThread) {
  MemoryStore store;
  ReaderPool pool{make_readers(store, 3), still_clock};
  const ShareOwner greedy{ShareKind::tenant, "greedy"};
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> greedy_done{0};
  for (int i = 0; i < 20; ++i) {
    pool.submit(
        [&](Reader&) {
          released.wait_for(10s);
          ++greedy_done;
        },
        greedy);
  }
  std::promise<void> modest;
  std::promise<void> boss;
  pool.submit([&](Reader&) { modest.set_value(); }, {ShareKind::tenant, "modest"});
  pool.submit([&](Reader&) { boss.set_value(); });
  EXPECT_EQ(modest.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_EQ(boss.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_EQ(greedy_done, 0);
  release.set_value();
  pool.stop();
  EXPECT_EQ(greedy_done, 20);
}

TEST(ReaderPool, StopFinishesTheQueuedJobs) {  // P10
  MemoryStore store;
  ReaderPool pool{make_readers(store, 2), still_clock};
  std::atomic<int> done{0};
  for (int i = 0; i < 1'000; ++i) {
    pool.submit([&done](Reader&) { ++done; });
  }
  pool.stop();
  EXPECT_EQ(done, 1'000);
  pool.stop();
}

TEST(ReaderPool, CountsReadersInUseAndJobsThatWait) {
  MemoryStore store;
  test::ManualClock own_clock;
  ReaderPool pool{make_readers(store, 1), own_clock};
  std::promise<void> begun;
  std::promise<void> release;
  pool.submit([&](Reader&) {
    begun.set_value();
    release.get_future().wait_for(10s);
  });
  ASSERT_EQ(begun.get_future().wait_for(10s), std::future_status::ready);
  pool.submit([](Reader&) {});
  EXPECT_EQ(pool.use().connections, 1u);
  EXPECT_EQ(pool.use().in_use, 1u);
  EXPECT_EQ(pool.use().waiting, 1u);
  own_clock.advance(2s);
  release.set_value();
  pool.stop();
  EXPECT_EQ(pool.use().in_use, 0u);
  EXPECT_EQ(pool.use().waiting, 0u);
  EXPECT_EQ(pool.use().waits.count, 2u);
  EXPECT_DOUBLE_EQ(pool.use().waits.sum, 2);
}

}  // namespace
}  // namespace postrider
