#include "runtime/limits/slot_pool.h"

#include <condition_variable>
#include <thread>

#include <gtest/gtest.h>

namespace postrider {
namespace {

class SlotPoolTest : public testing::Test {
 protected:
  std::vector<std::size_t> woken_;
  SlotPool pool_{[this](std::size_t worker) { woken_.push_back(worker); }};
  SlotPool::Place a_{.worker = 0};
  SlotPool::Place b_{.worker = 1};
  SlotPool::Place c_{.worker = 2};
};

TEST_F(SlotPoolTest, OneWorkerMayTakeAllSlots) {
  EXPECT_TRUE(pool_.take(a_, 2));
  EXPECT_TRUE(pool_.take(a_, 2));
  EXPECT_FALSE(pool_.take(a_, 2));
  EXPECT_EQ(pool_.taken(), 2u);
}

TEST_F(SlotPoolTest, ReservesAReturnedSlotForTheFirstInTheQueue) {
  EXPECT_TRUE(pool_.take(a_, 1));
  EXPECT_FALSE(pool_.take(b_, 1));
  EXPECT_FALSE(pool_.take(c_, 1));
  pool_.give_back(a_, 1);
  EXPECT_EQ(woken_, (std::vector<std::size_t>{1}));
  EXPECT_FALSE(pool_.take(a_, 1));  // The worker that gave it back asks first, and still waits.
  EXPECT_FALSE(pool_.take(c_, 1));
  EXPECT_TRUE(pool_.take(b_, 1));
  pool_.give_back(b_, 1);
  EXPECT_EQ(woken_, (std::vector<std::size_t>{1, 2}));
}

TEST_F(SlotPoolTest, PassesOnTheSlotOfAWorkerThatLeaves) {
  EXPECT_TRUE(pool_.take(a_, 1));
  EXPECT_FALSE(pool_.take(b_, 1));
  EXPECT_FALSE(pool_.take(c_, 1));
  pool_.give_back(a_, 1);
  pool_.leave(b_);
  EXPECT_EQ(woken_, (std::vector<std::size_t>{1, 2}));
  pool_.leave(c_);
  EXPECT_EQ(pool_.taken(), 0u);
  pool_.leave(c_);  // Does nothing.
  EXPECT_TRUE(pool_.take(b_, 1));
}

TEST_F(SlotPoolTest, SkipsAWorkerWithALowerLimit) {
  EXPECT_TRUE(pool_.take(a_, 3));
  EXPECT_TRUE(pool_.take(a_, 3));
  EXPECT_TRUE(pool_.take(a_, 3));
  EXPECT_FALSE(pool_.take(b_, 1));  // A retry: it may not use two of the slots.
  EXPECT_FALSE(pool_.take(c_, 3));
  pool_.give_back(a_, 1);
  EXPECT_EQ(woken_, (std::vector<std::size_t>{2}));
  EXPECT_TRUE(pool_.take(c_, 3));
  pool_.give_back(a_, 2);
  EXPECT_EQ(woken_, (std::vector<std::size_t>{2}));  // One is still taken.
  pool_.give_back(c_, 1);
  EXPECT_EQ(woken_, (std::vector<std::size_t>{2, 1}));
  EXPECT_TRUE(pool_.take(b_, 1));
}

TEST_F(SlotPoolTest, AWorkerWaitsForItsAttemptThatMayUseMostSlots) {
  EXPECT_TRUE(pool_.take(a_, 2));
  EXPECT_TRUE(pool_.take(a_, 2));
  EXPECT_FALSE(pool_.take(b_, 2));
  EXPECT_FALSE(pool_.take(b_, 1));  // Another attempt, which may use fewer.
  pool_.give_back(a_, 1);
  EXPECT_EQ(woken_, (std::vector<std::size_t>{1}));
  EXPECT_TRUE(pool_.take(b_, 2));
}

TEST_F(SlotPoolTest, ReturnsAReservedSlotThatALowerLimitForbids) {
  EXPECT_TRUE(pool_.take(a_, 2));
  EXPECT_TRUE(pool_.take(a_, 2));
  EXPECT_FALSE(pool_.take(b_, 2));
  pool_.give_back(a_, 1);
  EXPECT_FALSE(pool_.take(b_, 1));  // Only retries are left.
  EXPECT_EQ(pool_.taken(), 1u);
  pool_.give_back(a_, 1);
  EXPECT_EQ(woken_, (std::vector<std::size_t>{1, 1}));
  EXPECT_TRUE(pool_.take(b_, 1));
}

TEST_F(SlotPoolTest, DoesNotWakeAWorkerThatGivesBackToItself) {
  EXPECT_TRUE(pool_.take(a_, 1));
  EXPECT_FALSE(pool_.take(a_, 1));
  pool_.give_back(a_, 1);
  EXPECT_TRUE(woken_.empty());
  EXPECT_TRUE(pool_.take(a_, 1));
}

/// The threads rely on being woken: a lost wake-up ends the test with a failure.
TEST(SlotPoolThreads, NoWakeUpIsLostAndTheLimitHolds) {  // P7
  constexpr std::size_t workers = 4;
  constexpr std::uint32_t max = 2;
  constexpr int rounds = 20'000;
  struct Bell {
    std::mutex mutex;
    std::condition_variable rung;
    int count = 0;
  };
  std::vector<Bell> bells(workers);
  SlotPool pool{[&](std::size_t worker) {
    const std::lock_guard lock{bells[worker].mutex};
    ++bells[worker].count;
    bells[worker].rung.notify_one();
  }};
  std::atomic<std::uint32_t> inside{0};
  std::atomic<std::uint32_t> too_many{0};
  std::atomic<std::uint32_t> forgotten{0};
  const auto work = [&](std::size_t number) {
    SlotPool::Place place{.worker = number};
    Bell& bell = bells[number];
    for (int round = 0; round < rounds && forgotten == 0; ++round) {
      while (!pool.take(place, max)) {
        std::unique_lock lock{bell.mutex};
        if (!bell.rung.wait_for(lock, std::chrono::seconds{20}, [&] { return bell.count > 0; })) {
          ++forgotten;
          return;
        }
        bell.count = 0;
      }
      too_many += inside.fetch_add(1) >= max ? 1 : 0;
      inside.fetch_sub(1);
      pool.give_back(place, 1);
    }
    pool.leave(place);
  };
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < workers; ++number) {
    threads.emplace_back(work, number);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(too_many, 0u);
  EXPECT_EQ(forgotten, 0u);
  EXPECT_EQ(pool.taken(), 0u);
}

}  // namespace
}  // namespace postrider
