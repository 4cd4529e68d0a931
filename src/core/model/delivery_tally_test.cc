#include "core/model/delivery_tally.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

Attempt attempt(std::uint32_t number, std::optional<FailureCategory> failure, Micros duration) {
  Attempt made{.number = number};
  made.failure_category = failure;
  made.outcome.duration = duration;
  return made;
}

TEST(DeliveryTally, CountsAttemptsByResult) {
  DeliveryTally tally;
  EXPECT_TRUE(tally.empty());
  tally.add(attempt(1, FailureCategory::timeout, Micros{100}));
  tally.add(attempt(2, FailureCategory::timeout, Micros{200}));
  tally.add(attempt(3, std::nullopt, Micros{300}));
  EXPECT_EQ(tally.attempts, 3u);
  EXPECT_EQ(tally.succeeded, 1u);
  EXPECT_EQ(tally.failed(), 2u);
  EXPECT_EQ(tally.retries, 2u);
  EXPECT_EQ(tally.failures[static_cast<std::size_t>(FailureCategory::timeout)], 2u);
  EXPECT_EQ(tally.duration_total, Micros{600});
  EXPECT_EQ(tally.durations.count(), 3u);
  EXPECT_FALSE(tally.empty());

  DeliveryTally twice = tally;
  twice.published = 1;
  twice.add(tally);
  EXPECT_EQ(twice.published, 1u);
  EXPECT_EQ(twice.attempts, 6u);
  EXPECT_EQ(twice.failures[static_cast<std::size_t>(FailureCategory::timeout)], 4u);
  EXPECT_EQ(twice.duration_total, Micros{1'200});
  EXPECT_EQ(twice.durations.count(), 6u);
}

TEST(DeliveryTally, HasASuccessRatePerAttemptAndPerDelivery) {
  DeliveryTally tally;
  EXPECT_EQ(tally.attempt_success_rate(), std::nullopt);
  EXPECT_EQ(tally.delivery_success_rate(), std::nullopt);
  tally.add(attempt(1, FailureCategory::timeout, Micros{100}));
  tally.add_settled(DeliveryState::retrying);
  EXPECT_EQ(tally.attempt_success_rate(), 0.0);
  EXPECT_EQ(tally.delivery_success_rate(), std::nullopt);
  tally.add(attempt(2, std::nullopt, Micros{100}));
  tally.add_settled(DeliveryState::succeeded);
  EXPECT_EQ(tally.attempt_success_rate(), 0.5);
  EXPECT_EQ(tally.delivery_success_rate(), 1.0);
  tally.add_settled(DeliveryState::dead_letter);
  tally.add_settled(DeliveryState::cancelled);
  EXPECT_EQ(tally.delivery_success_rate(), 0.5);
  EXPECT_TRUE(tally.remove_settled(DeliveryState::dead_letter));
  EXPECT_FALSE(tally.remove_settled(DeliveryState::dead_letter));
  EXPECT_FALSE(tally.remove_settled(DeliveryState::cancelled));
  EXPECT_EQ(tally.delivery_success_rate(), 1.0);
  DeliveryTally twice = tally;
  twice.add(tally);
  EXPECT_EQ(twice.now_succeeded, 2u);
}

}  // namespace
}  // namespace postrider
