#include "runtime/store/event_loads.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

constexpr std::size_t four_at_once = 1 << 20;  // Bytes of a cache that reads four events ahead.

EventId id_of(std::uint8_t number) {
  EventId id;
  id.bytes[15] = number;
  return id;
}

Event event_of(std::uint8_t number, std::size_t data_bytes = 10) {
  Event event;
  event.id = id_of(number);
  event.data = std::string(data_bytes, 'x');
  return event;
}

Delivery delivery_of(std::uint8_t event) {
  Delivery delivery;
  delivery.event_id = id_of(event);
  return delivery;
}

StartAttempt attempt_of(std::uint8_t event, std::uint32_t number = 1) {
  StartAttempt start;
  start.delivery = delivery_of(event);
  start.attempt_number = number;
  return start;
}

std::vector<Delivery> deliveries_of(std::uint8_t count) {
  std::vector<Delivery> deliveries;
  for (std::uint8_t number = 1; number <= count; ++number) {
    deliveries.push_back(delivery_of(number));
  }
  return deliveries;
}

std::vector<EventId> ids_of(std::uint8_t first, std::uint8_t last) {
  std::vector<EventId> ids;
  for (std::uint8_t number = first; number <= last; ++number) {
    ids.push_back(id_of(number));
  }
  return ids;
}

std::vector<Event> read(const EventLoads::Load& load, std::size_t data_bytes = 10) {
  std::vector<Event> events;
  for (const EventId& id : load.ids) {
    events.push_back(event_of(id.bytes[15], data_bytes));
  }
  return events;
}

TEST(EventLoads, FindsAnEventThatWasPut) {
  EventLoads loads{four_at_once};
  loads.put(std::make_shared<const Event>(event_of(1)));
  EXPECT_NE(loads.find(id_of(1)), nullptr);
  EXPECT_EQ(loads.find(id_of(2)), nullptr);
  EXPECT_TRUE(loads.take().ids.empty());
}

TEST(EventLoads, AnEventIsAskedForOnceAndAllItsAttemptsGetIt) {
  EventLoads loads{four_at_once};
  loads.wait_for_event(attempt_of(1, 1));
  loads.wait_for_event(attempt_of(1, 2));
  const EventLoads::Load load = loads.take();
  EXPECT_EQ(load.ids, ids_of(1, 1));
  loads.wait_for_event(attempt_of(1, 3));
  EXPECT_TRUE(loads.take().ids.empty()) << "it is on its way";

  const std::vector<EventLoads::Arrival> arrivals = loads.arrived(load, read(load));
  ASSERT_EQ(arrivals.size(), 3u);
  for (std::uint32_t number = 1; number <= 3; ++number) {
    EXPECT_EQ(arrivals[number - 1].start.attempt_number, number);
    ASSERT_NE(arrivals[number - 1].event, nullptr);
    EXPECT_EQ(arrivals[number - 1].event->id, id_of(1));
  }
  EXPECT_NE(loads.find(id_of(1)), nullptr);
}

TEST(EventLoads, AnEventThatIsGoneArrivesAsNull) {
  EventLoads loads{four_at_once};
  loads.wait_for_event(attempt_of(1));
  loads.wait_for_event(attempt_of(2));
  const EventLoads::Load load = loads.take();
  const std::vector<EventLoads::Arrival> arrivals = loads.arrived(load, {{event_of(2)}});
  ASSERT_EQ(arrivals.size(), 2u);
  EXPECT_EQ(arrivals[0].event, nullptr);
  EXPECT_NE(arrivals[1].event, nullptr);
}

TEST(EventLoads, AfterAFailureEveryAttemptArrivesWithoutAnEventAndMayAskAgain) {
  EventLoads loads{four_at_once};
  loads.read_ahead(deliveries_of(2));
  loads.wait_for_event(attempt_of(1));
  const EventLoads::Load load = loads.take();
  EXPECT_EQ(load.ids, ids_of(1, 2));
  EXPECT_EQ(load.ahead, 1u);
  const std::vector<EventLoads::Arrival> arrivals =
      loads.arrived(load, fail(Errc::unavailable, "The store is away."));
  ASSERT_EQ(arrivals.size(), 1u);
  EXPECT_EQ(arrivals[0].event, nullptr);
  loads.wait_for_event(attempt_of(1));
  loads.wait_for_event(attempt_of(2));
  EXPECT_EQ(loads.take().ids, ids_of(1, 2));
}

TEST(EventLoads, ReadsAheadInOrderAndAFewAtATime) {
  EventLoads loads{four_at_once};
  loads.read_ahead(deliveries_of(6));
  const EventLoads::Load first = loads.take();
  EXPECT_EQ(first.ids, ids_of(1, 4));
  EXPECT_TRUE(loads.take().ids.empty()) << "no more until these have arrived";
  EXPECT_TRUE(loads.arrived(first, read(first)).empty());
  EXPECT_NE(loads.find(id_of(4)), nullptr);
  EXPECT_EQ(loads.take().ids, ids_of(5, 6));
}

TEST(EventLoads, AnAttemptIsNotHeldUpByReadingAhead) {
  EventLoads loads{four_at_once};
  loads.read_ahead(deliveries_of(6));
  const EventLoads::Load ahead = loads.take();
  loads.wait_for_event(attempt_of(6));
  const EventLoads::Load urgent = loads.take();
  EXPECT_EQ(urgent.ids, ids_of(6, 6));
  EXPECT_EQ(urgent.ahead, 0u);
}

TEST(EventLoads, AnAttemptJoinsTheEventThatIsReadAhead) {
  EventLoads loads{four_at_once};
  loads.read_ahead(deliveries_of(1));
  const EventLoads::Load ahead = loads.take();
  loads.wait_for_event(attempt_of(1));
  EXPECT_TRUE(loads.take().ids.empty());
  EXPECT_EQ(loads.arrived(ahead, read(ahead)).size(), 1u);
}

TEST(EventLoads, DoesNotReadAheadWhatIsCachedOrAskedFor) {
  EventLoads loads{four_at_once};
  loads.put(std::make_shared<const Event>(event_of(1)));
  loads.wait_for_event(attempt_of(2));
  loads.read_ahead(deliveries_of(3));
  loads.read_ahead(deliveries_of(3));
  const EventLoads::Load load = loads.take();
  EXPECT_EQ(load.ids, ids_of(2, 3));
  EXPECT_EQ(load.ahead, 1u);
}

TEST(EventLoads, ReadsNoMoreAheadThanTheCacheCanHold) {
  EventLoads loads{four_at_once};
  loads.read_ahead(deliveries_of(20));
  const EventLoads::Load large = loads.take();
  (void)loads.arrived(large, read(large, 100'000));
  EXPECT_EQ(loads.take().ids, ids_of(5, 6)) << "a quarter of the cache has room for two";
  EXPECT_TRUE(loads.take().ids.empty());
}

TEST(EventLoads, ASmallCacheReadsNothingAhead) {
  EventLoads loads{1};
  loads.read_ahead(deliveries_of(5));
  EXPECT_TRUE(loads.take().ids.empty());
}

}  // namespace
}  // namespace postrider
