#include "engine/tenants.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime now{1s};

TEST(Tenants, ATenantHasOneNumberHoweverManyLanes) {
  Tenants tenants{std::nullopt};
  const TenantIndex first = tenants.join("acme", now);
  EXPECT_EQ(tenants.join("acme", now), first);
  EXPECT_NE(tenants.join("other", now), first);
  EXPECT_EQ(tenants.at(first).lanes, 2u);
  EXPECT_EQ(tenants.at(first).bucket, std::nullopt);
}

TEST(Tenants, ANumberIsUsedAgainOnlyAfterTheLastLaneLeft) {
  Tenants tenants{std::nullopt};
  const TenantIndex acme = tenants.join("acme", now);
  EXPECT_EQ(tenants.join("acme", now), acme);
  tenants.leave(acme);
  EXPECT_NE(tenants.join("other", now), acme);
  tenants.leave(acme);
  EXPECT_EQ(tenants.join("third", now), acme);
  EXPECT_EQ(tenants.at(acme).id, "third");
  EXPECT_EQ(tenants.at(acme).lanes, 1u);
}

TEST(Tenants, EachTenantHasABucketOfItsOwn) {
  Tenants tenants{RateLimit{.count = 1, .period = 1s, .burst = 1}};
  const TenantIndex one = tenants.join("one", now);
  const TenantIndex two = tenants.join("two", now);
  EXPECT_TRUE(tenants.at(one).bucket->try_take(now));
  EXPECT_FALSE(tenants.at(one).bucket->try_take(now));
  EXPECT_TRUE(tenants.at(two).bucket->try_take(now));
}

}  // namespace
}  // namespace postrider
