#include "runtime/store/reader_pool.h"

#include <atomic>
#include <chrono>
#include <future>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

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
  ReaderPool pool{make_readers(store, 2)};
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

TEST(ReaderPool, StopFinishesTheQueuedJobs) {  // P10
  MemoryStore store;
  ReaderPool pool{make_readers(store, 2)};
  std::atomic<int> done{0};
  for (int i = 0; i < 1'000; ++i) {
    pool.submit([&done](Reader&) { ++done; });
  }
  pool.stop();
  EXPECT_EQ(done, 1'000);
  pool.stop();
}

}  // namespace
}  // namespace postrider
