#include "runtime/publish_quota.h"

#include <chrono>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using std::chrono::seconds;

Roster with_limits(std::map<TenantId, std::uint32_t> limits) {
  Roster roster;
  std::uint8_t number = 0;
  for (const auto& [id, per_minute] : limits) {
    RegisteredTenant tenant;
    tenant.id = id;
    tenant.serial.bytes[0] = ++number;
    tenant.limits.events_per_minute = per_minute;
    roster = roster.with(AddTenant{std::move(tenant)}, WallTime{}).value();
  }
  return roster;
}

TEST(PublishQuota, GivesAMinutesWorthAndThenAsTimeGoesBy) {
  PublishQuota quota;
  const Roster roster = with_limits({{"a", 60}});
  const MonoTime start{};
  EXPECT_EQ(quota.try_take(roster, {{"a", 60}}, start), std::nullopt);
  EXPECT_EQ(quota.try_take(roster, {{"a", 1}}, start), Millis{1'000});
  EXPECT_EQ(quota.try_take(roster, {{"a", 60}}, start), Millis{60'000});
  EXPECT_EQ(quota.try_take(roster, {{"a", 2}}, start + seconds{1}), Millis{1'000});
  EXPECT_EQ(quota.try_take(roster, {{"a", 1}}, start + seconds{1}), std::nullopt);
  EXPECT_EQ(quota.try_take(roster, {{"a", 1}}, start + seconds{1}), Millis{1'000});
}

TEST(PublishQuota, TakesFromAllOrFromNobody) {
  PublishQuota quota;
  const Roster roster = with_limits({{"a", 10}, {"b", 2}});
  const MonoTime start{};
  EXPECT_EQ(quota.try_take(roster, {{"a", 5}, {"b", 3}}, start), Millis::max());
  EXPECT_EQ(quota.try_take(roster, {{"a", 1}, {"b", 2}}, start), std::nullopt);
  EXPECT_EQ(quota.try_take(roster, {{"a", 1}, {"b", 1}}, start), Millis{30'000});
  EXPECT_EQ(quota.try_take(roster, {{"a", 9}}, start), std::nullopt);  // None was lost above.
  EXPECT_EQ(quota.try_take(roster, {{"unlimited", 1'000'000}}, start), std::nullopt);
}

TEST(PublishQuota, AChangedLimitHoldsAtOnce) {
  PublishQuota quota;
  const MonoTime start{};
  EXPECT_EQ(quota.try_take(with_limits({{"a", 10}}), {{"a", 1}}, start), std::nullopt);
  EXPECT_EQ(quota.try_take(with_limits({{"a", 2}}), {{"a", 3}}, start), Millis::max());
  EXPECT_EQ(quota.try_take(with_limits({{"a", 2}}), {{"a", 2}}, start), std::nullopt);
  EXPECT_EQ(quota.try_take(with_limits({{"a", 2}}), {{"a", 1}}, start), Millis{30'000});
  EXPECT_EQ(quota.try_take(with_limits({{"a", 0}}), {{"a", 1}}, start), Millis::max());
  EXPECT_EQ(quota.try_take(Roster{}, {{"a", 1'000}}, start), std::nullopt);
}

}  // namespace
}  // namespace postrider
