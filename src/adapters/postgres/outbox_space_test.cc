#include "adapters/postgres/outbox_space.h"

#include <gtest/gtest.h>

namespace postrider::postgres {
namespace {

TEST(SpacePlan, AnEmptyOutboxIsLeftAlone) {
  EXPECT_EQ(plan_space({.current = 0, .age = bucket_age * 100}), SpacePlan{});
}

TEST(SpacePlan, ALargeBucketIsLeft) {
  EXPECT_EQ(plan_space({.rows = {bucket_rows - 1, 0, 0}}), SpacePlan{});
  EXPECT_EQ(plan_space({.rows = {bucket_rows, 0, 0}}),
            (SpacePlan{.next_bucket = 1, .to_empty = {0}}));
  EXPECT_EQ(plan_space({.current = 2, .rows = {0, 0, bucket_rows}}),
            (SpacePlan{.next_bucket = 0, .to_empty = {2}}));
}

TEST(SpacePlan, AnOldBucketIsLeft) {
  EXPECT_EQ(plan_space({.age = bucket_age - Millis{1}, .rows = {1, 0, 0}}), SpacePlan{});
  EXPECT_EQ(plan_space({.age = bucket_age, .rows = {1, 0, 0}}),
            (SpacePlan{.next_bucket = 1, .to_empty = {0}}));
}

TEST(SpacePlan, TheNextBucketMustBeEmpty) {
  EXPECT_EQ(plan_space({.age = bucket_age, .rows = {bucket_rows, 1, 0}}),
            (SpacePlan{.to_empty = {1}}));
  EXPECT_EQ(plan_space({.current = 1, .age = bucket_age, .rows = {5, 6, 0}}),
            (SpacePlan{.next_bucket = 2, .to_empty = {0, 1}}));
}

}  // namespace
}  // namespace postrider::postgres
