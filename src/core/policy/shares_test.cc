#include "core/policy/shares.h"

#include <vector>

#include <gtest/gtest.h>

namespace postrider {
namespace {

const ShareOwner boss{};

ShareOwner tenant(int number) { return {ShareKind::tenant, std::to_string(number)}; }

std::uint64_t take_all(Shares& shares, const ShareOwner& owner) {
  std::uint64_t taken = 0;
  while (shares.take(owner) == ShareVerdict::granted) {
    ++taken;
  }
  return taken;
}

TEST(Shares, OneOwnerTakesAQuarter) {
  Shares shares{share_rules(32)};
  EXPECT_EQ(take_all(shares, tenant(1)), 8u);
  EXPECT_EQ(shares.take(tenant(1)), ShareVerdict::owner_full);
  EXPECT_EQ(shares.take(tenant(2)), ShareVerdict::granted);
}

TEST(Shares, ManyGreedyOwnersLeaveRoomForOneMoreAndForTheOperator) {
  for (int greedy = 1; greedy <= 16; ++greedy) {
    Shares shares{share_rules(256)};
    for (int round = 0; round < 256; ++round) {
      for (int owner = 0; owner < greedy; ++owner) {
        (void)shares.take(tenant(owner));
      }
    }
    EXPECT_EQ(shares.take(tenant(greedy)), ShareVerdict::granted) << greedy;
    EXPECT_GE(take_all(shares, boss), 32u) << greedy;
  }
}

TEST(Shares, LargeAmountsLeaveRoomToo) {
  Shares shares{{.total = 256, .owner_max = 64, .owner_min = 1, .reserve = 32}};
  for (int owner = 0; owner < 40; ++owner) {
    (void)shares.take(tenant(owner), 16);
  }
  EXPECT_EQ(shares.held(), 208u);
  EXPECT_EQ(shares.take(tenant(40), 16), ShareVerdict::server_full);
  EXPECT_EQ(shares.take(tenant(40), 8), ShareVerdict::granted);
  EXPECT_EQ(shares.take(boss, 32), ShareVerdict::granted);
}

TEST(Shares, AsManyOwnersAsPlacesGetOneEach) {
  Shares shares{share_rules(8)};
  for (int owner = 0; owner < 7; ++owner) {
    EXPECT_EQ(shares.take(tenant(owner)), ShareVerdict::granted) << owner;
  }
  EXPECT_EQ(shares.take(tenant(7)), ShareVerdict::server_full);
  EXPECT_EQ(shares.take(boss), ShareVerdict::granted);
  EXPECT_EQ(shares.take(boss), ShareVerdict::server_full);
}

TEST(Shares, TheOperatorHasNoPart) {
  Shares shares{share_rules(8)};
  EXPECT_EQ(take_all(shares, boss), 8u);
  EXPECT_EQ(shares.take(tenant(1)), ShareVerdict::server_full);
}

TEST(Shares, WhatIsGivenBackCanBeTakenAgain) {
  Shares shares{share_rules(4)};
  ASSERT_EQ(shares.take(tenant(1)), ShareVerdict::granted);
  ASSERT_EQ(shares.take(tenant(1)), ShareVerdict::owner_full);
  shares.give_back(tenant(1));
  EXPECT_EQ(shares.held(), 0u);
  EXPECT_EQ(shares.take(tenant(1)), ShareVerdict::granted);
}

TEST(Shares, KindsWithTheSameNameAreDifferentOwners) {
  Shares shares{share_rules(8)};
  ASSERT_EQ(take_all(shares, {ShareKind::tenant, "a"}), 2u);
  EXPECT_EQ(shares.take({ShareKind::address, "a"}), ShareVerdict::granted);
  EXPECT_EQ(shares.take({ShareKind::key, "a"}), ShareVerdict::granted);
}

TEST(Shares, AnAmountLargerThanTheOwnersPartIsNeverGranted) {
  Shares shares{share_rules(100, 10)};
  EXPECT_EQ(shares.take(tenant(1), 26), ShareVerdict::owner_full);
  EXPECT_EQ(shares.take(tenant(1), 25), ShareVerdict::granted);
  EXPECT_EQ(shares.take(tenant(2), UINT64_MAX), ShareVerdict::owner_full);
  EXPECT_EQ(shares.take(boss, UINT64_MAX), ShareVerdict::server_full);
}

TEST(Shares, AnOwnerMayAlwaysHoldTheUnitWhileThereIsRoom) {
  Shares shares{{.total = 100, .owner_max = 25, .owner_min = 10, .reserve = 12}};
  for (int owner = 0; owner < 8; ++owner) {
    EXPECT_EQ(shares.take(tenant(owner), 10), ShareVerdict::granted) << owner;
  }
  EXPECT_EQ(shares.take(tenant(8), 10), ShareVerdict::server_full);
}

TEST(Shares, TheSmallestTotals) {
  EXPECT_EQ(share_rules(1), (ShareRules{.total = 1, .owner_max = 1, .owner_min = 1, .reserve = 0}));
  EXPECT_EQ(share_rules(2), (ShareRules{.total = 2, .owner_max = 1, .owner_min = 1, .reserve = 1}));
  Shares none{share_rules(0)};
  EXPECT_EQ(none.take(tenant(1)), ShareVerdict::server_full);
  EXPECT_EQ(none.take(boss), ShareVerdict::server_full);
}

TEST(Shares, SmallerRulesRefuseUntilEnoughIsGivenBack) {
  Shares shares{share_rules(32)};
  ASSERT_EQ(take_all(shares, tenant(1)), 8u);
  shares.change(share_rules(8));
  EXPECT_EQ(shares.take(tenant(1)), ShareVerdict::owner_full);
  EXPECT_EQ(shares.take(tenant(2)), ShareVerdict::server_full);
  shares.give_back(tenant(1), 7);
  EXPECT_EQ(shares.take(tenant(1)), ShareVerdict::granted);
}

TEST(Shares, DescribesAnOwner) {
  EXPECT_EQ(describe({ShareKind::tenant, "acme"}), "tenant `acme`");
  EXPECT_EQ(describe({ShareKind::key, "key_1"}), "API key `key_1`");
  EXPECT_EQ(describe({ShareKind::address, "192.0.2.1"}), "address 192.0.2.1");
  EXPECT_EQ(describe(boss), "the operator");
}

}  // namespace
}  // namespace postrider
