#include "engine/shard/tenants.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(Tenants, ATenantHasOneIndex) {
  Tenants tenants;
  const TenantIndex first = tenants.join("acme");
  EXPECT_EQ(tenants.join("acme"), first);
  EXPECT_NE(tenants.join("other"), first);
  EXPECT_EQ(tenants.at(first).lanes, 2u);
  EXPECT_EQ(*tenants.find("acme"), first);
  EXPECT_EQ(tenants.find("nobody"), nullptr);
}

TEST(Tenants, ReusesAnIndexAfterTheLastLaneLeft) {
  Tenants tenants;
  const TenantIndex acme = tenants.join("acme");
  EXPECT_EQ(tenants.join("acme"), acme);
  tenants.leave(acme);
  EXPECT_NE(tenants.join("other"), acme);
  tenants.leave(acme);
  EXPECT_EQ(tenants.join("third"), acme);
  EXPECT_EQ(tenants.at(acme).id, "third");
  EXPECT_EQ(tenants.at(acme).lanes, 1u);
}

}  // namespace
}  // namespace postrider
