#include "core/model/attempt_list.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using Statuses = std::vector<AttemptStatus>;

Attempt attempt_with(std::optional<FailureCategory> category, bool retried) {
  Attempt attempt;
  attempt.failure_category = category;
  if (retried) {
    attempt.next_retry_at = wall_from_unix_ms(1);
  }
  return attempt;
}

bool admits(Statuses statuses, const Attempt& attempt) {
  AttemptFilter filter;
  filter.statuses = std::move(statuses);
  return admits_status(filter, attempt);
}

TEST(AdmitsStatus, FindsEachAttemptUnderItsStatuses) {
  struct Case {
    Attempt attempt;
    Statuses admitted;
  };
  const Case cases[] = {
      {attempt_with(std::nullopt, false), {AttemptStatus::succeeded}},
      {attempt_with(FailureCategory::timeout, true),
       {AttemptStatus::failed, AttemptStatus::timeout}},
      {attempt_with(FailureCategory::timeout, false),
       {AttemptStatus::failed, AttemptStatus::timeout, AttemptStatus::exhausted}},
      {attempt_with(FailureCategory::server_error, true), {AttemptStatus::failed}},
      {attempt_with(FailureCategory::server_error, false),
       {AttemptStatus::failed, AttemptStatus::exhausted}},
  };
  for (const Case& each : cases) {
    Statuses found;
    for (const AttemptStatus status :
         {AttemptStatus::succeeded, AttemptStatus::failed, AttemptStatus::timeout,
          AttemptStatus::exhausted, AttemptStatus::blocked}) {
      if (admits({status}, each.attempt)) {
        found.push_back(status);
      }
    }
    EXPECT_EQ(found, each.admitted);
  }
}

TEST(AdmitsStatus, NeedsOnlyOneOfSeveralStatuses) {
  const Attempt failed = attempt_with(FailureCategory::server_error, true);
  EXPECT_TRUE(admits({}, failed));
  EXPECT_TRUE(admits({AttemptStatus::succeeded, AttemptStatus::failed}, failed));
  EXPECT_FALSE(admits({AttemptStatus::succeeded, AttemptStatus::timeout}, failed));
}

TEST(AttemptPosition, IsOrderedByTimeThenDeliveryThenNumber) {
  const WallTime early = wall_from_unix_ms(1);
  const WallTime late = wall_from_unix_ms(2);
  EXPECT_LT((AttemptPosition{early, 9, 9}), (AttemptPosition{late, 1, 1}));
  EXPECT_LT((AttemptPosition{early, 1, 9}), (AttemptPosition{early, 2, 1}));
  EXPECT_LT((AttemptPosition{early, 1, 1}), (AttemptPosition{early, 1, 2}));
}

}  // namespace
}  // namespace postrider
