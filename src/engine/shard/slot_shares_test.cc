#include "engine/shard/slot_shares.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

constexpr AllowanceLimits limits{
    .in_flight_max = 160, .tenant_in_flight_max = 80, .first_attempt_reserve = 40};

SlotRequest request(SlotRank rank, SlotCounts total = {}, SlotCounts tenant = {},
                    std::uint32_t active_tenants = 1) {
  return {.claim = {.candidates = candidates_of(rank), .rank = rank},
          .unproven =
              rank == SlotRank::unknown || rank == SlotRank::doubtful || rank >= SlotRank::further,
          .total = total,
          .tenant = tenant,
          .active_tenants = active_tenants};
}

TEST(SlotShares, OneTenantAloneMayUseWhatItsLimitSays) {
  EXPECT_EQ(slot_ceilings(limits, request(SlotRank::idle, {79}, {79})).tenant, 80u);
  EXPECT_EQ(slot_ceilings(limits, request(SlotRank::proven, {79}, {79})).tenant, 70u);
}

TEST(SlotShares, ATenantMayExceedItsShareWhileMoreIsFree) {
  // Four tenants: a share is a fifth.
  EXPECT_EQ(slot_ceilings(limits, request(SlotRank::idle, {60}, {50}, 4)).tenant, 80u);
  EXPECT_EQ(slot_ceilings(limits, request(SlotRank::idle, {110}, {50}, 4)).tenant, 50u);
  EXPECT_EQ(slot_ceilings(limits, request(SlotRank::idle, {150}, {50}, 4)).tenant, 32u);
}

TEST(SlotShares, HangingWebhooksOfATenantDoNotUseUpTheShareOfItsIdleOnes) {
  EXPECT_EQ(slot_ceilings(limits, request(SlotRank::idle, {150}, {50, 40}, 4)).tenant, 72u);
  EXPECT_EQ(slot_ceilings(limits, request(SlotRank::idle, {150}, {90, 70}, 4)).tenant, 80u)
      << "never beyond the tenant's limit";
  EXPECT_LE(slot_ceilings(limits, request(SlotRank::proven, {150}, {50, 40}, 4)).tenant, 32u);
}

TEST(SlotShares, TheNextTenantFindsItsShareFree) {
  for (std::uint32_t tenants = 2; tenants <= 20; ++tenants) {
    // All tenants start as many attempts of unknown webhooks as they may.
    std::vector<std::uint32_t> taken(tenants);
    std::uint32_t total = 0;
    for (bool started = true; started;) {
      started = false;
      for (std::uint32_t& each : taken) {
        const SlotCounts all{total, total};
        const SlotCeilings may =
            slot_ceilings(limits, request(SlotRank::unknown, all, {each, each}, tenants));
        if (total < may.total && each < may.tenant) {
          ++each;
          ++total;
          started = true;
        }
      }
    }
    const SlotCeilings next =
        slot_ceilings(limits, request(SlotRank::unknown, {total, total}, {}, tenants));
    EXPECT_LT(total, next.total) << tenants;
    EXPECT_GT(next.tenant, 0u);
    EXPECT_LT(total + limits.in_flight_max / 8,
              slot_ceilings(limits, request(SlotRank::idle, {total, total}, {}, tenants)).total)
        << tenants;
  }
}

TEST(SlotShares, EachRankLeavesSomeSlotsToThoseWithMoreRight) {
  const SlotCounts busy{100, 60};
  const SlotCounts tenant{60, 30};
  std::uint32_t before = limits.in_flight_max + 1;
  for (const SlotRank rank :
       {SlotRank::idle, SlotRank::proven, SlotRank::unknown, SlotRank::doubtful}) {
    const std::uint32_t total = slot_ceilings(limits, request(rank, busy, tenant, 3)).total;
    EXPECT_LT(total, before);
    before = total;
  }
  EXPECT_EQ(before, 100u);
}

TEST(SlotShares, SuspectsGetAtMostHalf) {
  const auto ceilings = [](std::uint32_t unproven) {
    return slot_ceilings(limits, request(SlotRank::suspect, {unproven, unproven}, {}, 9));
  };
  EXPECT_GT(ceilings(79).total, 79u);
  EXPECT_EQ(ceilings(80).total, 0u);
  EXPECT_TRUE(ceilings(80).total_for_all);
  EXPECT_EQ(slot_ceilings(limits, request(SlotRank::suspect, {50, 40}, {40, 40}, 1)).tenant, 0u);
}

TEST(SlotShares, UnprovenWebhooksDoNotStarve) {
  // Proven webhooks use all that they may, and the tenant has most of it.
  const SlotCounts busy{139, 0};
  for (const SlotRank rank : {SlotRank::unknown, SlotRank::further}) {
    SlotRequest first = request(rank, busy, {60}, 3);
    first.claim.candidates = Candidates::first_attempts;
    EXPECT_EQ(slot_ceilings(limits, first).total, 140u);
  }
}

TEST(SlotShares, RetriesNeverUseTheReserveOfFirstAttempts) {
  EXPECT_LE(slot_ceilings(limits, request(SlotRank::retry)).total, 120u);
  EXPECT_LE(slot_ceilings(limits, request(SlotRank::suspect)).total, 120u);
}

TEST(SlotShares, TheSmallestShareKeepsASlotForAProvenWebhook) {
  const SlotCounts full{159, 100};
  const SlotCounts one{1, 1};
  EXPECT_LE(slot_ceilings(limits, request(SlotRank::unknown, full, one, 1'000)).tenant, 1u);
  EXPECT_EQ(slot_ceilings(limits, request(SlotRank::suspect, full, one, 1'000)).tenant, 0u);
  EXPECT_GT(slot_ceilings(limits, request(SlotRank::idle, full, one, 1'000)).tenant, 1u);
}

TEST(SlotShares, AFewSlotsAreNotSharedOut) {
  const AllowanceLimits few{
      .in_flight_max = 7, .tenant_in_flight_max = 7, .first_attempt_reserve = 0};
  EXPECT_EQ(slot_ceilings(few, request(SlotRank::suspect, {6, 6}, {6, 6})),
            (SlotCeilings{.total = 7, .tenant = 7}));
}

TEST(SlotShares, SlotsThatOneTenantMayUseAllAreNotSharedOut) {
  const AllowanceLimits all{
      .in_flight_max = 50, .tenant_in_flight_max = 50, .first_attempt_reserve = 0};
  EXPECT_EQ(slot_ceilings(all, request(SlotRank::further, {49, 49}, {49, 49})),
            (SlotCeilings{.total = 50, .tenant = 50}));
  EXPECT_EQ(slot_ceilings(all, request(SlotRank::suspect, {25, 25}, {25, 25})).total, 0u)
      << "suspects get half all the same";
}

TEST(SlotShares, TheHintIsTheWidestRankThatMayGetASlot) {
  EXPECT_EQ(rank_hint(limits, 119), widest_rank);
  EXPECT_EQ(rank_hint(limits, 120), SlotRank::unknown);
  EXPECT_EQ(rank_hint(limits, 140), SlotRank::idle);
}

}  // namespace
}  // namespace postrider
