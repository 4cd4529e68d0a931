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

SlotRequest trial(SlotRank rank, SlotCounts total, SlotCounts tenant = {},
                  std::uint32_t active_tenants = 3) {
  SlotRequest result = request(rank, total, tenant, active_tenants);
  result.claim.candidates = Candidates::first_attempts;
  result.claim.trial = true;
  return result;
}

TEST(SlotShares, AProvenBacklogDoesNotKeepANewWebhookWaiting) {
  // A proven webhook has just given a slot back, and could take it again.
  const SlotCounts total{149, 0};
  const SlotCounts tenant{39, 0};
  const SlotCeilings idle = slot_ceilings(limits, request(SlotRank::idle, total, tenant, 3));
  EXPECT_EQ(idle.total, 150u);
  EXPECT_LE(slot_ceilings(limits, request(SlotRank::unknown, total, tenant, 3)).total, 149u);
  for (const SlotRank rank : {SlotRank::unknown, SlotRank::doubtful, SlotRank::suspect}) {
    const SlotCeilings first = slot_ceilings(limits, trial(rank, total, tenant));
    EXPECT_EQ(first.total, idle.total);
    EXPECT_EQ(first.tenant, idle.tenant);
    EXPECT_FALSE(first.total_for_all) << "another tenant may have nothing in flight";
  }
}

TEST(SlotShares, TheLastSlotsAreForTenantsWithNothingInFlight) {
  const SlotCounts total{155, 0};
  EXPECT_EQ(slot_ceilings(limits, request(SlotRank::idle, total, {1, 0}, 30)).total, 150u);
  EXPECT_FALSE(slot_ceilings(limits, request(SlotRank::idle, total, {1, 0}, 30)).total_for_all);
  for (const SlotRequest& first :
       {request(SlotRank::idle, total, {}, 30), trial(SlotRank::unknown, total, {}, 30)}) {
    EXPECT_EQ(slot_ceilings(limits, first).total, 160u);
    EXPECT_TRUE(slot_ceilings(limits, first).total_for_all);
  }
}

TEST(SlotShares, FewTrialsAreInFlightAtOnce) {
  const auto open = [](SlotRank rank, std::uint32_t unproven, SlotCounts tenant) {
    return slot_ceilings(limits, trial(rank, {159, unproven}, tenant)).total > 0;
  };
  const SlotCounts busy{30, 0};
  EXPECT_TRUE(open(SlotRank::suspect, 4, busy));
  EXPECT_FALSE(open(SlotRank::suspect, 5, busy)) << "suspects leave trials to new webhooks";
  EXPECT_TRUE(open(SlotRank::unknown, 39, busy));
  EXPECT_FALSE(open(SlotRank::unknown, 40, busy)) << "the tenant leaves trials to new tenants";
  EXPECT_TRUE(open(SlotRank::unknown, 79, {}));
  EXPECT_FALSE(open(SlotRank::unknown, 80, {})) << "half stays for proven webhooks";
  EXPECT_TRUE(open(SlotRank::unknown, 9, {30, 9}));
  EXPECT_FALSE(open(SlotRank::unknown, 10, {30, 10})) << "a quarter of what the tenant may use";
}

TEST(SlotShares, AHangingWebhookLeavesATrialToANewOneHoweverFewSlotsThereAre) {
  for (std::uint32_t slots = shared_slots_min; slots <= 64; ++slots) {
    const AllowanceLimits few{.in_flight_max = slots,
                              .tenant_in_flight_max = slots / 2,
                              .first_attempt_reserve = slots / 4};
    std::uint32_t hanging = 0;
    while (
        slot_ceilings(few, trial(SlotRank::suspect, {slots - 1, hanging}, {2, hanging}, 30)).total >
        0) {
      ++hanging;
    }
    EXPECT_GT(hanging, 0u);
    const SlotCeilings next =
        slot_ceilings(few, trial(SlotRank::unknown, {slots - 1, hanging}, {2, hanging}, 30));
    EXPECT_GE(next.total, slots - std::max(slots / 16, 1u));
    EXPECT_GT(next.tenant, 2u);
  }
}

TEST(SlotShares, TheTrialHintIsTheWidestRankThatMayHaveATrial) {
  EXPECT_EQ(trial_hint(limits, {159, 4}), SlotRank::suspect);
  EXPECT_EQ(trial_hint(limits, {159, 5}), SlotRank::doubtful);
  EXPECT_EQ(trial_hint(limits, {159, 79}), SlotRank::doubtful);
  EXPECT_EQ(trial_hint(limits, {159, 80}), std::nullopt);
  EXPECT_EQ(trial_hint({.in_flight_max = 7}, {6, 0}), std::nullopt);
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
