#include "runtime/cluster/own_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace postrider {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TenantPools bound{{"acme", "eu"}, {"globex", "us"}};

TEST(OwnPool, TheDefaultPoolWorksTheTenantsThatAreBoundToNone) {
  const OwnPool pool{"", bound};
  EXPECT_TRUE(pool.includes("initech"));
  EXPECT_FALSE(pool.includes("acme"));
  EXPECT_FALSE(pool.includes_all());
  EXPECT_TRUE((OwnPool{"", {}}.includes_all()));
}

TEST(OwnPool, AnotherPoolWorksTheTenantsThatAreBoundToIt) {
  const OwnPool pool{"eu", bound};
  EXPECT_TRUE(pool.includes("acme"));
  EXPECT_FALSE(pool.includes("globex"));
  EXPECT_FALSE(pool.includes("initech"));
  EXPECT_FALSE((OwnPool{"eu", {}}.includes_all()));
}

TEST(OwnPool, TellsWhichTenantsMoved) {
  OwnPool pool{"eu", bound};
  const OwnPool::Moved moved = pool.change({{"globex", "eu"}, {"initech", "us"}});
  EXPECT_THAT(moved.added, ElementsAre("globex"));
  EXPECT_THAT(moved.removed, ElementsAre("acme"));
  EXPECT_TRUE(pool.includes("globex"));
  EXPECT_FALSE(pool.includes("acme"));

  OwnPool plain{"", bound};
  const OwnPool::Moved of_plain = plain.change({{"globex", "eu"}, {"initech", "us"}});
  EXPECT_THAT(of_plain.added, ElementsAre("acme"));
  EXPECT_THAT(of_plain.removed, ElementsAre("initech"));
}

TEST(OwnPool, ATenantThatStaysHasNotMoved) {
  OwnPool pool{"eu", bound};
  const OwnPool::Moved moved = pool.change({{"acme", "eu"}, {"globex", "asia"}});
  EXPECT_THAT(moved.added, IsEmpty());
  EXPECT_THAT(moved.removed, IsEmpty());
}

TEST(OwnPool, ReadsThePoolsOfTheTenants) {
  RegistryContents contents;
  contents.tenants = {{.id = "acme", .serial = TenantSerial{{1}}, .pool = "eu"},
                      {.id = "globex", .serial = TenantSerial{{2}}, .pool = ""},
                      {.id = "initech", .serial = TenantSerial{{3}}}};
  EXPECT_EQ(pools_of(AccessSnapshot{std::move(contents)}), (TenantPools{{"acme", "eu"}}));
}

}  // namespace
}  // namespace postrider
