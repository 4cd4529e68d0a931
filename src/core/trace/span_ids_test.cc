#include "core/trace/span_ids.h"

#include <set>

#include <gtest/gtest.h>

namespace postrider {
namespace {

constexpr WallTime now = wall_from_unix_ms(1'767'225'600'000);

TEST(SpanIds, AllSpansOfAnEventHaveDifferentIds) {
  UuidGenerator ids{1};
  std::set<SpanId> seen;
  int made = 0;
  const auto add = [&](const SpanId& id) {
    seen.insert(id);
    ++made;
  };
  for (int event = 0; event < 50; ++event) {
    const auto event_id = ids.make<EventId>(now);
    add(publish_span_id(event_id));
    add(commit_span_id(event_id));
    for (int delivery = 0; delivery < 3; ++delivery) {
      const auto delivery_id = ids.make<DeliveryId>(now);
      add(given_up_span_id(delivery_id, 2));
      for (std::uint32_t number = 1; number <= 10; ++number) {
        const SpanId attempt = attempt_span_id(delivery_id, number, now + Millis{number});
        add(attempt);
        for (std::uint32_t part = 0; part < 4; ++part) {
          add(part_span_id(attempt, part));
        }
      }
    }
  }
  EXPECT_EQ(static_cast<int>(seen.size()), made);
  EXPECT_FALSE(seen.contains(SpanId{}));
}

TEST(SpanIds, TheSameAttemptHasTheSameId) {
  UuidGenerator ids{1};
  const auto id = ids.make<DeliveryId>(now);
  EXPECT_EQ(attempt_span_id(id, 2, now), attempt_span_id(id, 2, now));
}

TEST(SpanIds, AnAttemptThatIsRepeatedAfterACrashHasAnotherId) {
  UuidGenerator ids{1};
  const auto id = ids.make<DeliveryId>(now);
  EXPECT_NE(attempt_span_id(id, 2, now), attempt_span_id(id, 2, now + Millis{1}));
}

// A stored attempt is shown with the id that was sent, also by later versions.
TEST(SpanIds, NeverChange) {
  DeliveryId id;
  id.bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  EXPECT_EQ(to_string(attempt_span_id(id, 1, now)), "480081dcb85ac5b5");
}

}  // namespace
}  // namespace postrider
