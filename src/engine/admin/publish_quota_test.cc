#include "engine/admin/publish_quota.h"

#include <chrono>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using std::chrono::seconds;

AccessSnapshot with_limits(std::map<TenantId, std::uint32_t> limits) {
  AccessSnapshot access;
  std::uint8_t number = 0;
  for (const auto& [id, per_minute] : limits) {
    RegisteredTenant tenant;
    tenant.id = id;
    tenant.serial.bytes[0] = ++number;
    tenant.limits.events_per_minute = per_minute;
    access = access.with(AddTenant{std::move(tenant)}, WallTime{}).value();
  }
  return access;
}

TEST(PublishQuota, AllowsABurstOfOneMinuteAndThenRefills) {
  PublishQuota quota;
  const AccessSnapshot access = with_limits({{"a", 60}});
  const MonoTime start{};
  EXPECT_EQ(quota.try_take(access, {{"a", 60}}, start), std::nullopt);
  EXPECT_EQ(quota.try_take(access, {{"a", 1}}, start), Millis{1'000});
  EXPECT_EQ(quota.try_take(access, {{"a", 60}}, start), Millis{60'000});
  EXPECT_EQ(quota.try_take(access, {{"a", 2}}, start + seconds{1}), Millis{1'000});
  EXPECT_EQ(quota.try_take(access, {{"a", 1}}, start + seconds{1}), std::nullopt);
  EXPECT_EQ(quota.try_take(access, {{"a", 1}}, start + seconds{1}), Millis{1'000});
}

TEST(PublishQuota, TakesFromAllTenantsOrFromNone) {
  PublishQuota quota;
  const AccessSnapshot access = with_limits({{"a", 10}, {"b", 2}});
  const MonoTime start{};
  EXPECT_EQ(quota.try_take(access, {{"a", 5}, {"b", 3}}, start), Millis::max());
  EXPECT_EQ(quota.try_take(access, {{"a", 1}, {"b", 2}}, start), std::nullopt);
  EXPECT_EQ(quota.try_take(access, {{"a", 1}, {"b", 1}}, start), Millis{30'000});
  EXPECT_EQ(quota.try_take(access, {{"a", 9}}, start),
            std::nullopt);  // The failed calls took none.
  EXPECT_EQ(quota.try_take(access, {{"unlimited", 1'000'000}}, start), std::nullopt);
}

TEST(PublishQuota, AChangedLimitAppliesAtOnce) {
  PublishQuota quota;
  const MonoTime start{};
  EXPECT_EQ(quota.try_take(with_limits({{"a", 10}}), {{"a", 1}}, start), std::nullopt);
  EXPECT_EQ(quota.try_take(with_limits({{"a", 2}}), {{"a", 3}}, start), Millis::max());
  EXPECT_EQ(quota.try_take(with_limits({{"a", 2}}), {{"a", 2}}, start), std::nullopt);
  EXPECT_EQ(quota.try_take(with_limits({{"a", 2}}), {{"a", 1}}, start), Millis{30'000});
  EXPECT_EQ(quota.try_take(with_limits({{"a", 0}}), {{"a", 1}}, start), Millis::max());
  EXPECT_EQ(quota.try_take(AccessSnapshot{}, {{"a", 1'000}}, start), std::nullopt);
}

}  // namespace
}  // namespace postrider
