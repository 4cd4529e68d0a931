#include "client/send_queue.h"

#include <optional>

#include <gtest/gtest.h>

namespace postrider::client {
namespace {

using namespace std::chrono_literals;
using Tickets = std::vector<std::uint64_t>;

constexpr QueueLimits limits{.events_max = 10,
                             .bytes_max = 100,
                             .batch_events_max = 3,
                             .batch_bytes_max = 20,
                             .batch_delay = 5ms};

MonoTime at(Millis time) { return MonoTime{time}; }

QueuedEvent event(std::uint64_t ticket, std::size_t bytes = 1) {
  return {.ticket = ticket, .text = std::string(bytes, 'x')};
}

Tickets tickets_of(const Batch& batch) {
  Tickets tickets;
  for (const QueuedEvent& each : batch.events) {
    tickets.push_back(each.ticket);
  }
  return tickets;
}

Batch batch_at(SendQueue& queue, Millis time) {
  SendQueue::Next next = queue.next(at(time));
  auto* const batch = std::get_if<Batch>(&next);
  return batch != nullptr ? std::move(*batch) : Batch{};
}

/// nullopt: there is nothing to wait for, or a batch to send.
std::optional<Millis> wait_at(SendQueue& queue, Millis time) {
  const SendQueue::Next next = queue.next(at(time));
  const auto* const wait = std::get_if<SendQueue::WaitUntil>(&next);
  return wait == nullptr
             ? std::nullopt
             : std::optional{std::chrono::duration_cast<Millis>(wait->time.time_since_epoch())};
}

bool is_idle(SendQueue& queue, Millis time) {
  return std::holds_alternative<SendQueue::Idle>(queue.next(at(time)));
}

TEST(SendQueue, SendsABatchWhenItsFirstEventHasWaitedLongEnough) {
  SendQueue queue{limits};
  EXPECT_TRUE(is_idle(queue, 0ms));
  queue.add(event(1), at(1ms));
  queue.add(event(2), at(3ms));
  EXPECT_EQ(wait_at(queue, 3ms), 6ms);
  EXPECT_EQ(tickets_of(batch_at(queue, 6ms)), (Tickets{1, 2}));
  EXPECT_TRUE(is_idle(queue, 6ms));
}

TEST(SendQueue, SendsAFullBatchAtOnce) {
  SendQueue queue{limits};
  for (std::uint64_t ticket = 1; ticket <= 4; ++ticket) {
    queue.add(event(ticket), at(0ms));
  }
  EXPECT_EQ(tickets_of(batch_at(queue, 0ms)), (Tickets{1, 2, 3}));
  EXPECT_EQ(wait_at(queue, 0ms), 5ms);
}

TEST(SendQueue, LimitsTheBytesOfABatchUnlessOneEventIsLarger) {
  SendQueue queue{limits};
  queue.add(event(1, 12), at(0ms));
  queue.add(event(2, 8), at(0ms));
  queue.add(event(3, 21), at(0ms));
  EXPECT_EQ(tickets_of(batch_at(queue, 0ms)), (Tickets{1, 2}));
  EXPECT_EQ(tickets_of(batch_at(queue, 0ms)), (Tickets{3}));
  queue.add(event(4, 19), at(0ms));
  EXPECT_EQ(wait_at(queue, 0ms), 5ms);
}

TEST(SendQueue, DoesNotWaitInAHurry) {
  SendQueue queue{limits};
  queue.add(event(1), at(0ms));
  queue.set_hurry(true);
  EXPECT_EQ(tickets_of(batch_at(queue, 0ms)), (Tickets{1}));
  queue.set_hurry(false);
  queue.add(event(2), at(0ms));
  EXPECT_EQ(wait_at(queue, 0ms), 5ms);
}

TEST(SendQueue, HasRoomUntilTheEventsThatWereTakenAreSettled) {
  SendQueue queue{limits};
  for (std::uint64_t ticket = 1; ticket <= 10; ++ticket) {
    EXPECT_TRUE(queue.has_room_for(10));
    queue.add(event(ticket, 10), at(0ms));
  }
  EXPECT_FALSE(queue.has_room_for(0)) << "the number of events";
  const Batch batch = batch_at(queue, 0ms);
  EXPECT_EQ(tickets_of(batch), (Tickets{1, 2}));
  EXPECT_FALSE(queue.has_room_for(0));
  queue.settle(batch.events[0]);
  EXPECT_TRUE(queue.has_room_for(10));
  EXPECT_FALSE(queue.has_room_for(11)) << "the number of bytes";
  EXPECT_TRUE(queue.is_too_large(101));
  EXPECT_FALSE(queue.is_too_large(100));
}

TEST(SendQueue, RepeatsABatchUnchangedBeforeAnythingElse) {
  SendQueue queue{limits};
  for (std::uint64_t ticket = 1; ticket <= 4; ++ticket) {
    queue.add(event(ticket), at(0ms));
  }
  Batch batch = batch_at(queue, 0ms);
  queue.repeat(batch, at(100ms));
  queue.set_hurry(true);
  EXPECT_EQ(wait_at(queue, 10ms), 100ms);
  EXPECT_EQ(batch_at(queue, 100ms), batch);
  EXPECT_EQ(tickets_of(batch_at(queue, 100ms)), (Tickets{4}));
}

TEST(SendQueue, SendsOtherEventsWhileSomeArePostponed) {
  SendQueue queue{limits};
  queue.add(event(1), at(0ms));
  Batch first = batch_at(queue, 5ms);
  EXPECT_EQ(first.postponed, 0u);
  queue.postpone(std::move(first), at(50ms));
  EXPECT_EQ(wait_at(queue, 5ms), 50ms);
  queue.add(event(2), at(10ms));
  EXPECT_EQ(wait_at(queue, 10ms), 15ms);
  EXPECT_EQ(tickets_of(batch_at(queue, 15ms)), (Tickets{2}));
  queue.add(event(3), at(48ms));
  EXPECT_EQ(wait_at(queue, 48ms), 50ms);
  const Batch again = batch_at(queue, 50ms);
  EXPECT_EQ(tickets_of(again), (Tickets{1}));
  EXPECT_EQ(again.postponed, 1u);
  EXPECT_EQ(tickets_of(batch_at(queue, 53ms)), (Tickets{3}));
}

TEST(SendQueue, SendsThePostponedEventsInTheOrderOfTheirTime) {
  SendQueue queue{limits};
  queue.postpone({.events = {event(1)}}, at(30ms));
  queue.postpone({.events = {event(2)}}, at(20ms));
  EXPECT_EQ(wait_at(queue, 0ms), 20ms);
  EXPECT_EQ(tickets_of(batch_at(queue, 40ms)), (Tickets{2}));
  EXPECT_EQ(tickets_of(batch_at(queue, 40ms)), (Tickets{1}));
}

TEST(SendQueue, SendsTheHalvesOfASplitBatchFirstAndInOrder) {
  SendQueue queue{limits};
  for (std::uint64_t ticket = 1; ticket <= 4; ++ticket) {
    queue.add(event(ticket), at(0ms));
  }
  queue.split(batch_at(queue, 0ms));
  EXPECT_EQ(tickets_of(batch_at(queue, 0ms)), (Tickets{1}));
  Batch second = batch_at(queue, 0ms);
  EXPECT_EQ(tickets_of(second), (Tickets{2, 3}));
  queue.split(std::move(second));
  EXPECT_EQ(tickets_of(batch_at(queue, 0ms)), (Tickets{2}));
  EXPECT_EQ(tickets_of(batch_at(queue, 0ms)), (Tickets{3}));
  EXPECT_EQ(tickets_of(batch_at(queue, 5ms)), (Tickets{4}));
}

}  // namespace
}  // namespace postrider::client
