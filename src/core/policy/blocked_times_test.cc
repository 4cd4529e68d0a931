#include "core/policy/blocked_times.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

const WallTime noon = *parse_rfc3339("2026-01-31T12:00:00Z");

DeliveryRecord delivery(DeliveryState state, WallTime due) {
  DeliveryRecord record;
  record.delivery.state = state;
  record.delivery.due = due;
  record.created_at = noon;
  return record;
}

Attempt attempt(WallTime scheduled_at, WallTime executed_at) {
  Attempt attempt;
  attempt.scheduled_at = scheduled_at;
  attempt.outcome.executed_at = executed_at;
  return attempt;
}

OpenPeriod period(WallTime from, std::optional<WallTime> until) {
  return {.opened_at = from, .ended_at = until};
}

using Times = std::vector<BlockedTime>;

TEST(BlockedTimes, AreTheOverlapsOfOpenPeriodsAndWaitsForAnAttempt) {
  const DeliveryRecord record = delivery(DeliveryState::succeeded, noon + 70s);
  const std::vector<Attempt> attempts = {attempt(noon, noon + 1ms), attempt(noon + 10s, noon + 40s),
                                         attempt(noon + 70s, noon + 95s)};
  const std::vector<OpenPeriod> periods = {
      period(noon + 1s, noon + 9s), period(noon + 20s, noon + 39s), period(noon + 41s, noon + 60s),
      period(noon + 65s, noon + 90s)};
  EXPECT_EQ(blocked_times(record, attempts, periods, noon + 1h),
            (Times{{noon + 20s, noon + 39s}, {noon + 70s, noon + 90s}}))
      << "a delivery that waits for its retry is not blocked";
}

TEST(BlockedTimes, HaveNoEndWhileTheDeliveryIsBlocked) {
  const DeliveryRecord due = delivery(DeliveryState::pending, noon);
  const std::vector<OpenPeriod> open = {period(noon - 1h, std::nullopt)};
  EXPECT_EQ(blocked_times(due, {}, open, noon + 5s), (Times{{noon, std::nullopt}}));
  EXPECT_TRUE(blocked_times(due, {}, open, noon - 1s).empty()) << "not due yet";
  EXPECT_TRUE(blocked_times(due, {}, {}, noon + 5s).empty());
}

TEST(BlockedTimes, EndWhenTheDeliveryIsCancelled) {
  DeliveryRecord record = delivery(DeliveryState::cancelled, noon);
  record.completed_at = noon + 8s;
  EXPECT_EQ(blocked_times(record, {}, {period(noon - 1h, std::nullopt)}, noon + 1h),
            (Times{{noon, noon + 8s}}));
}

TEST(BlockedTimes, KeepTheReasonOfThePeriod) {
  const OpenPeriod forced{.opened_at = noon, .ended_at = noon + 2s, .reason = OpenReason::forced};
  EXPECT_EQ(blocked_times(delivery(DeliveryState::pending, noon), {}, {forced}, noon + 5s),
            (Times{{noon, noon + 2s, OpenReason::forced}}));
}

}  // namespace
}  // namespace postrider
