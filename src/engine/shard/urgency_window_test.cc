#include <deque>

#include <gtest/gtest.h>

#include "engine/shard/window.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime now = wall_from_unix_ms(1'000'000);

class UrgencyWindow : public testing::Test {
 protected:
  Entry& entry(Priority priority, Millis due_in, std::uint32_t attempt_count = 0) {
    Entry& made = entries_.emplace_back();
    made.delivery.id.bytes[15] = static_cast<std::uint8_t>(entries_.size());
    made.delivery.sequence = static_cast<std::int64_t>(entries_.size());
    made.delivery.priority = priority;
    made.delivery.attempt_count = attempt_count;
    made.delivery.due = now + due_in;
    made.ready_at = made.delivery.due;
    return made;
  }
  Entry* insert(Entry& added) { return window_->insert(added, Arrival::admitted, bounds_); }
  Entry* next(Priority priority, Candidates candidates = Candidates::all) {
    return window_->next(priority, candidates, now);
  }

  std::deque<Entry> entries_;
  std::unique_ptr<Window> window_ = make_urgency_window();
  WindowBounds bounds_{.now = now, .count_max = 4, .load_ahead = 30s};
};

TEST_F(UrgencyWindow, StartsTheEarliestDueFirstWithinAPriority) {
  Entry& later_due = entry(Priority::normal, -1ms);
  Entry& sooner_due = entry(Priority::normal, -2ms);
  Entry& high = entry(Priority::high, 0ms);
  for (Entry* each : {&later_due, &sooner_due, &high}) {
    EXPECT_EQ(insert(*each), nullptr);
  }
  EXPECT_EQ(next(Priority::normal), &sooner_due);
  EXPECT_EQ(next(Priority::high), &high);
  EXPECT_EQ(next(Priority::low), nullptr);
  window_->start(sooner_due);
  EXPECT_EQ(next(Priority::normal), &later_due);
}

TEST_F(UrgencyWindow, ReportsWhenADeliveryBecomesDue) {
  Entry& due = entry(Priority::low, 0ms);
  Entry& not_due = entry(Priority::high, 1ms);
  EXPECT_EQ(insert(due), nullptr);
  EXPECT_EQ(insert(not_due), nullptr);
  const WindowReadiness readiness = window_->readiness(now);
  EXPECT_EQ(readiness.ready.all.to_string(), "100");
  EXPECT_EQ(readiness.next_due, now + 1ms);
  EXPECT_EQ(next(Priority::high), nullptr);
  EXPECT_EQ(window_->readiness(now + 1ms).ready.all.to_string(), "101");
}

TEST_F(UrgencyWindow, FindsFirstAttemptsBehindRetries) {
  Entry& retry = entry(Priority::normal, -5ms, 1);
  Entry& first = entry(Priority::normal, -1ms);
  EXPECT_EQ(insert(retry), nullptr);
  EXPECT_EQ(insert(first), nullptr);
  EXPECT_EQ(next(Priority::normal), &retry);
  EXPECT_EQ(next(Priority::normal, Candidates::first_attempts), &first);
  window_->drop(first);
  EXPECT_EQ(next(Priority::normal, Candidates::first_attempts), nullptr);
  EXPECT_TRUE(window_->readiness(now).ready.first_attempts.none());
}

TEST_F(UrgencyWindow, AFullWindowEvictsTheLatest) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(insert(entry(Priority::normal, -10ms)), nullptr);
  }
  Entry& fifth = entry(Priority::normal, -1ms);
  EXPECT_EQ(insert(fifth), &fifth);
  EXPECT_EQ(window_->rest_due(), now - 1ms);
  EXPECT_EQ(window_->count(), 4u);
}

TEST_F(UrgencyWindow, EvictsDeliveriesThatAreNotDueFirst) {
  Entry& not_due = entry(Priority::high, 5s);
  EXPECT_EQ(insert(not_due), nullptr);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(insert(entry(Priority::low, 0ms)), nullptr);
  }
  EXPECT_EQ(insert(entry(Priority::low, 0ms)), &not_due);
  EXPECT_EQ(window_->rest_due(), now + 5s);
}

TEST_F(UrgencyWindow, NoPriorityEvictsAllOthers) {
  bounds_.count_max = 26;
  for (int i = 0; i < 60; ++i) {
    (void)insert(entry(Priority::high, 0ms));
    (void)insert(entry(Priority::normal, 0ms));
    (void)insert(entry(Priority::low, 0ms));
  }
  std::array<int, priority_count> held{};
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    while (Entry* each = next(static_cast<Priority>(priority))) {
      ++held[priority];
      window_->drop(*each);
    }
  }
  EXPECT_EQ(held, (std::array{16, 8, 2}));
}

TEST_F(UrgencyWindow, DeliveriesDueMuchLaterStayInTheStore) {
  Entry& at_horizon = entry(Priority::normal, 30s);
  Entry& beyond = entry(Priority::normal, 30'001ms);
  EXPECT_EQ(insert(at_horizon), nullptr);
  EXPECT_EQ(insert(beyond), &beyond);
  EXPECT_EQ(window_->rest_due(), now + 30'001ms);
  EXPECT_EQ(window_->load_at(bounds_), now + 30'001ms);
}

TEST_F(UrgencyWindow, LoadsWhenLessThanHalfIsDue) {
  EXPECT_EQ(window_->load_at(bounds_), std::nullopt);
  window_->store_has_more(now);
  EXPECT_EQ(window_->load_at(bounds_), now);
  Entry& first = entry(Priority::normal, 0ms);
  EXPECT_EQ(insert(first), nullptr);
  EXPECT_EQ(window_->load_at(bounds_), now);
  EXPECT_EQ(insert(entry(Priority::normal, 0ms)), nullptr);
  EXPECT_EQ(window_->load_at(bounds_), std::nullopt);
  window_->start(first);
  EXPECT_EQ(window_->load_at(bounds_), now);
}

TEST_F(UrgencyWindow, AWindowFullOfLaterRetriesLoadsDueDeliveries) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(insert(entry(Priority::normal, 10s, 1)), nullptr);
  }
  window_->store_has_more(now);
  EXPECT_EQ(window_->load_at(bounds_), now);
}

TEST_F(UrgencyWindow, ALoadDoesNotCoverDeliveriesLeftInTheStoreAfterItBegan) {
  window_->store_has_more(now - 1s);
  EXPECT_EQ(window_->begin_load(bounds_), 4u);
  window_->store_has_more(now + 2s);
  window_->end_load({}, now + 9s, 4);
  EXPECT_EQ(window_->rest_due(), now + 2s);
  EXPECT_EQ(window_->begin_load(bounds_), 4u);
  window_->end_load({}, std::nullopt, 4);
  EXPECT_EQ(window_->rest_due(), std::nullopt);
}

TEST_F(UrgencyWindow, AfterForgettingAllLoadsWhenTheFirstIsDue) {
  EXPECT_EQ(insert(entry(Priority::low, -3s)), nullptr);
  EXPECT_EQ(insert(entry(Priority::high, 2s)), nullptr);
  EXPECT_EQ(window_->forget_all().size(), 2u);
  EXPECT_EQ(window_->count(), 0u);
  EXPECT_EQ(window_->rest_due(), now - 3s);
}

}  // namespace
}  // namespace postrider
