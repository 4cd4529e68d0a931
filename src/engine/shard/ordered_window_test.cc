#include <deque>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/shard/window.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime now = wall_from_unix_ms(1'000'000);

class OrderedWindow : public testing::Test {
 protected:
  Entry& entry(std::int64_t sequence, const std::string& type = "a", Millis due_in = 0ms) {
    Entry& made = entries_.emplace_back();
    made.delivery.sequence = sequence;
    made.delivery.event_type = type;
    made.delivery.due = now + due_in;
    made.ready_at = made.delivery.due;
    return made;
  }
  Entry* admit(Entry& added) { return window_->insert(added, Arrival::admitted, bounds_); }
  Entry* load(Entry& added) { return window_->insert(added, Arrival::loaded, bounds_); }
  Entry* next() { return window_->next(Priority::normal, Candidates::all, now); }
  /// A load that returns `rows`.
  void loaded(const std::vector<Entry*>& rows, std::optional<WallTime> rest_due,
              std::uint32_t limit) {
    std::vector<Delivery> deliveries;
    for (const Entry* row : rows) {
      deliveries.push_back(row->delivery);
    }
    (void)window_->begin_load(bounds_);
    window_->end_load(deliveries, rest_due, limit);
    for (Entry* row : rows) {
      (void)load(*row);
    }
  }

  std::deque<Entry> entries_;
  WindowBounds bounds_{.now = now, .count_max = 16, .load_ahead = 30s};
  std::unique_ptr<Window> window_ = make_ordered_window(Ordering::strict);
};

class TypedWindow : public OrderedWindow {
 protected:
  TypedWindow() { window_ = make_ordered_window(Ordering::per_event_type); }
};

TEST_F(OrderedWindow, StartsTheLowestSequenceFirst) {
  Entry& second = entry(2);
  Entry& first = entry(1, "b");
  EXPECT_EQ(admit(second), nullptr);
  EXPECT_EQ(admit(first), nullptr);
  EXPECT_EQ(next(), &first);
}

TEST_F(OrderedWindow, StartsOneAtATimeUntilItIsSettled) {
  Entry& first = entry(1);
  Entry& second = entry(2);
  EXPECT_EQ(admit(first), nullptr);
  EXPECT_EQ(admit(second), nullptr);
  window_->start(first);
  EXPECT_EQ(next(), nullptr);
  EXPECT_TRUE(window_->readiness(now).held_by_order);
  window_->end(first);
  EXPECT_EQ(next(), &second);
}

TEST_F(OrderedWindow, AFirstDeliveryThatIsNotDueHoldsTheOthers) {
  Entry& head = entry(1, "a", 5s);
  EXPECT_EQ(admit(head), nullptr);
  EXPECT_EQ(admit(entry(2)), nullptr);
  const WindowReadiness readiness = window_->readiness(now);
  EXPECT_TRUE(readiness.ready.all.none());
  EXPECT_TRUE(readiness.held_by_order);
  EXPECT_EQ(readiness.next_due, now + 5s);
}

TEST_F(OrderedWindow, ADeliveryStaysOutWhileTheStoreMayHaveEarlierOnes) {
  window_->store_has_more(now);
  Entry& fresh = entry(9);
  EXPECT_EQ(admit(fresh), &fresh);
  EXPECT_EQ(window_->count(), 0u);
  EXPECT_EQ(window_->load_at(bounds_), now);

  Entry& older = entry(3);
  loaded({&older, &fresh}, std::nullopt, 16);
  EXPECT_EQ(next(), &older);
  EXPECT_EQ(window_->rest_due(), std::nullopt);
  EXPECT_EQ(admit(entry(10)), nullptr);
}

TEST_F(OrderedWindow, ARevivedDeliveryEntersBetweenKnownOnes) {
  Entry& known = entry(5);
  window_->store_has_more(now);
  loaded({&known}, now, 1);  // The store has more after it.
  Entry& revived = entry(2);
  EXPECT_EQ(admit(revived), nullptr);
  EXPECT_EQ(next(), &revived);
}

TEST_F(OrderedWindow, AFullWindowEvictsTheLastDelivery) {
  for (std::int64_t sequence = 1; sequence <= 16; ++sequence) {
    EXPECT_EQ(admit(entry(sequence)), nullptr);
  }
  Entry& seventeenth = entry(17);
  EXPECT_EQ(admit(seventeenth), &seventeenth);
  Entry& eighteenth = entry(18);
  EXPECT_EQ(admit(eighteenth), &eighteenth);
  EXPECT_EQ(window_->count(), 16u);
  EXPECT_EQ(window_->load_at(bounds_), std::nullopt);  // No room.
  for (int i = 0; i < 9; ++i) {
    Entry& head = *next();
    window_->start(head);
    window_->end(head);
  }
  EXPECT_EQ(window_->load_at(bounds_), now);
}

TEST_F(OrderedWindow, ALoadDoesNotCoverDeliveriesLeftInTheStoreAfterItBegan) {
  window_->store_has_more(now);
  (void)window_->begin_load(bounds_);
  Entry& late = entry(7);
  EXPECT_EQ(admit(late), &late);
  window_->end_load({}, std::nullopt, 16);
  EXPECT_TRUE(window_->rest_due());
  Entry& later = entry(8);
  EXPECT_EQ(admit(later), &later);
}

TEST_F(OrderedWindow, AnEmptyLineIsLoadedAtOnce) {
  Entry& only = entry(1);
  window_->store_has_more(now);
  loaded({&only}, now, 1);
  window_->start(only);
  window_->end(only);
  EXPECT_EQ(window_->load_at(bounds_), now);
  Entry& unknown = entry(9);
  EXPECT_EQ(admit(unknown), &unknown);
}

TEST_F(OrderedWindow, ABacklogIsLoadedWhenItIsDue) {
  window_->store_has_more(now + 1h);
  EXPECT_EQ(window_->load_at(bounds_), now + 1h);
}

TEST_F(OrderedWindow, AfterForgettingAllNothingEntersBeforeALoad) {
  Entry& first = entry(1, "a", 2s);
  EXPECT_EQ(admit(first), nullptr);
  EXPECT_EQ(admit(entry(2, "a", 1s)), nullptr);
  EXPECT_EQ(window_->forget_all().size(), 2u);
  EXPECT_EQ(window_->rest_due(), now + 1s);
  Entry& third = entry(3);
  EXPECT_EQ(admit(third), &third);
}

TEST_F(TypedWindow, TypesDoNotWaitForEachOther) {
  Entry& a = entry(1, "a");
  Entry& b = entry(3, "b");
  EXPECT_EQ(admit(a), nullptr);
  EXPECT_EQ(admit(entry(2, "a")), nullptr);
  EXPECT_EQ(admit(b), nullptr);
  window_->start(a);
  EXPECT_EQ(next(), &b);
  window_->start(b);
  EXPECT_EQ(next(), nullptr);
}

TEST_F(TypedWindow, AFailingTypeLeavesRoomForTheOthers) {
  for (std::int64_t sequence = 1; sequence <= 10; ++sequence) {
    (void)admit(entry(sequence, "stuck", 1h));
  }
  EXPECT_EQ(window_->count(), 2u);  // An eighth of the window.
  Entry& other = entry(11, "fine");
  EXPECT_EQ(admit(other), nullptr);
  EXPECT_EQ(next(), &other);
  EXPECT_EQ(window_->load_at(bounds_), std::nullopt);  // The stuck type has enough in memory.
}

TEST_F(TypedWindow, EvictsFromTheLongestLine) {
  bounds_.count_max = 8;
  for (std::int64_t sequence = 1; sequence <= 8; ++sequence) {
    EXPECT_EQ(admit(entry(sequence, fmt::format("type.{}", sequence))), nullptr);
  }
  Entry& ninth = entry(9, "type.9");
  EXPECT_EQ(admit(ninth), &ninth);
  EXPECT_EQ(window_->count(), 8u);
  EXPECT_EQ(window_->rest_due(), now);
  Entry& again = entry(10, "type.9");
  EXPECT_EQ(admit(again), &again);  // The ninth comes before it.
}

TEST_F(TypedWindow, LoadsATypeThatIsNotInMemoryEvenIfTheWindowIsFull) {
  bounds_.count_max = 8;
  for (std::int64_t sequence = 1; sequence <= 8; ++sequence) {
    EXPECT_EQ(admit(entry(sequence, fmt::format("type.{}", sequence), 1h)), nullptr);
  }
  (void)admit(entry(9, "type.9"));
  EXPECT_EQ(window_->load_at(bounds_), std::nullopt);
  (void)admit(entry(10, "type.9"));
  EXPECT_EQ(window_->load_at(bounds_), now);
}

}  // namespace
}  // namespace postrider
