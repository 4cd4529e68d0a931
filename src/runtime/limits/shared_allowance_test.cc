#include "runtime/limits/shared_allowance.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start{1h};
constexpr TenantIndex acme = 0;
constexpr TenantIndex other = 1;
constexpr SlotClaim first{};
constexpr SlotClaim retry{.candidates = Candidates::all, .rank = SlotRank::retry};

/// Two workers, each with lanes of two tenants.
class SharedAllowanceTest : public testing::Test {
 protected:
  void share(const AllowanceLimits& limits) {
    shared_.emplace(limits, 2, [this](std::size_t worker, SlotReserved reserved) {
      woken_.emplace_back(worker, std::move(reserved));
    });
    for (const std::size_t worker : {0, 1}) {
      shared_->of(worker).join(acme, "acme", start);
      shared_->of(worker).join(other, "other", start);
    }
  }
  [[nodiscard]] Limit take(std::size_t worker, TenantIndex tenant, const SlotClaim& claim = first,
                           MonoTime now = start, HostIndex host = no_host) {
    return shared_->of(worker).take({tenant, host}, claim, now).refused_by;
  }

  using Woken = std::vector<std::pair<std::size_t, SlotReserved>>;
  Woken woken_;
  std::optional<SharedAllowance> shared_;
};

TEST_F(SharedAllowanceTest, CountsSlotsOverAllWorkers) {  // P7
  share({.in_flight_max = 2, .tenant_in_flight_max = 2, .first_attempt_reserve = 0});
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(1, acme), Limit::none);
  EXPECT_EQ(take(0, other), Limit::total_slots);
  EXPECT_TRUE(shared_->of(0).slots_taken({other}, {}));
  shared_->of(1).give_back({acme});
  EXPECT_EQ(woken_, (Woken{{0, SlotReserved{}}}));
  EXPECT_EQ(take(0, other), Limit::none);
}

TEST_F(SharedAllowanceTest, CountsATenantsSlotsOverAllWorkers) {
  share({.in_flight_max = 9, .tenant_in_flight_max = 1, .first_attempt_reserve = 0});
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(1, acme), Limit::tenant_slots);
  EXPECT_EQ(take(1, other), Limit::none);
  shared_->of(0).give_back({acme});
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{"acme"}}}));
  EXPECT_EQ(take(0, acme), Limit::tenant_slots);
  shared_->of(1).release_reserved(acme);
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{"acme"}}, {0, SlotReserved{"acme"}}}));
}

TEST_F(SharedAllowanceTest, KeepsATenantSlotReservedForAWorkerThatWaitsForATotalSlot) {
  share({.in_flight_max = 2, .tenant_in_flight_max = 1, .first_attempt_reserve = 0});
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(1, acme), Limit::tenant_slots);
  EXPECT_EQ(take(0, other), Limit::none);
  EXPECT_EQ(take(1, other), Limit::total_slots);
  shared_->of(0).give_back({acme});  // Worker 1 waits for both.
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{"acme"}}, {1, SlotReserved{}}}));
  EXPECT_EQ(take(1, acme), Limit::none);
}

TEST_F(SharedAllowanceTest, CountsAHostsSlotsOverAllWorkersAndTenants) {  // P7
  share({.host_in_flight_max = 1});
  constexpr HostIndex host = 0;
  shared_->of(0).join_host(host, "receiver.example");
  shared_->of(1).join_host(host, "receiver.example");
  EXPECT_EQ(take(0, acme, first, start, host), Limit::none);
  EXPECT_EQ(take(1, other, first, start, host), Limit::host_slots);
  EXPECT_EQ(take(1, other), Limit::none) << "other hosts are free";
  shared_->of(0).give_back({acme, host});
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{.host = "receiver.example"}}}));
  EXPECT_EQ(take(0, acme, first, start, host), Limit::host_slots) << "it is reserved";
  EXPECT_EQ(take(1, other, first, start, host), Limit::none);
  shared_->of(1).give_back({other, host});
  EXPECT_EQ(woken_.back(), (std::pair<std::size_t, SlotReserved>{0, {.host = "receiver.example"}}));
  shared_->of(0).leave_host(host);  // With the reserved slot.
  EXPECT_EQ(take(1, other, first, start, host), Limit::none);
}

TEST_F(SharedAllowanceTest, KeepsTheReserveFromRetriesOfAllWorkers) {
  share({.in_flight_max = 3, .tenant_in_flight_max = 3, .first_attempt_reserve = 2});
  EXPECT_EQ(take(0, acme, retry), Limit::none);
  EXPECT_EQ(shared_->of(1).candidates(), SlotRank::unknown);
  EXPECT_EQ(take(1, acme, retry), Limit::total_slots);
  EXPECT_EQ(take(1, acme, first), Limit::none);
  EXPECT_EQ(take(0, other, first), Limit::none);
  EXPECT_EQ(take(1, other, retry), Limit::total_slots);
  shared_->of(0).give_back({acme});
  shared_->of(0).give_back({other});
  EXPECT_TRUE(woken_.empty());
  shared_->of(1).give_back({acme});
  EXPECT_EQ(take(1, other, retry), Limit::none);
}

TEST_F(SharedAllowanceTest, CountsTokensOverAllWorkers) {  // P7
  share({.total_rate = RateLimit{.count = 2, .period = 1s, .burst = 2}});
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(1, other), Limit::none);
  const Permit refused = shared_->of(0).take({acme}, first, start);
  EXPECT_EQ(refused, (Permit{.refused_by = Limit::total_rate, .again_at = start + 500ms}));
  EXPECT_EQ(shared_->of(1).token_at(other, start), start + 1s);
  EXPECT_EQ(take(0, acme, first, start + 500ms), Limit::none);
}

TEST_F(SharedAllowanceTest, GivesEachTenantARateThatOneWorkerMayUseFully) {
  share({.tenant_rate = RateLimit{.count = 60, .period = 1min, .burst = 1}});
  for (int second = 0; second < 10; ++second) {
    EXPECT_EQ(take(0, acme, first, start + second * 1s), Limit::none);
    EXPECT_EQ(take(0, acme, first, start + second * 1s), Limit::tenant_rate);
  }
  EXPECT_EQ(take(1, other, first, start + 9s), Limit::none);
}

TEST_F(SharedAllowanceTest, KeepsATenantsTurnForAWorkerThatTheTotalRateRefuses) {
  share({.tenant_rate = RateLimit{.count = 1, .period = 1min, .burst = 1},
         .total_rate = RateLimit{.count = 1, .period = 1s, .burst = 1}});
  EXPECT_EQ(take(0, other), Limit::none);
  EXPECT_EQ(take(0, acme), Limit::total_rate);
  EXPECT_EQ(take(1, acme, first, start + 1s), Limit::tenant_rate) << "worker 0 comes first";
  EXPECT_EQ(take(0, acme, first, start + 1s), Limit::none);
}

TEST_F(SharedAllowanceTest, ForgetsATenantWithoutLanes) {
  share({.tenant_rate = RateLimit{.count = 1, .period = 1min, .burst = 1}});
  EXPECT_EQ(take(0, acme), Limit::none);
  shared_->of(0).give_back({acme});
  shared_->of(0).leave(acme);
  shared_->of(0).join(acme, "acme", start);
  EXPECT_EQ(take(0, acme), Limit::tenant_rate) << "worker 1 still has lanes of it";
  shared_->of(0).leave(acme);
  shared_->of(1).leave(acme);
  shared_->of(0).join(acme, "acme", start);
  EXPECT_EQ(take(0, acme), Limit::none);
}

TEST_F(SharedAllowanceTest, ARefusalTakesNeitherATokenNorASlot) {
  share({.in_flight_max = 2,
         .tenant_in_flight_max = 2,
         .first_attempt_reserve = 0,
         .total_rate = RateLimit{.count = 1, .period = 1s, .burst = 3}});
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(1, acme), Limit::total_slots);
  shared_->of(0).give_back({acme});
  shared_->of(0).give_back({acme});
  EXPECT_EQ(take(1, acme), Limit::none);  // The token is still there.
  EXPECT_EQ(take(1, acme), Limit::total_rate);
  shared_->of(1).give_back({acme});
  EXPECT_EQ(take(0, acme, first, start + 2s), Limit::none);
}

TEST_F(SharedAllowanceTest, CountsMovedAttemptsForTheirNewTenant) {
  share({.in_flight_max = 9, .tenant_in_flight_max = 1, .first_attempt_reserve = 0});
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(1, acme), Limit::tenant_slots);
  shared_->of(0).move(acme, other, 1, 0);
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{"acme"}}}));
  EXPECT_EQ(take(1, other), Limit::tenant_slots);
}

TEST_F(SharedAllowanceTest, PassesOnTheReservedSlotWhenAWorkerLosesATenant) {
  share({.in_flight_max = 9, .tenant_in_flight_max = 1, .first_attempt_reserve = 0});
  EXPECT_EQ(take(0, acme), Limit::none);
  EXPECT_EQ(take(1, acme), Limit::tenant_slots);
  shared_->of(0).give_back({acme});
  EXPECT_EQ(take(0, acme), Limit::tenant_slots);
  shared_->of(1).leave(acme);
  EXPECT_EQ(take(0, acme), Limit::none);
}

// ---------------------------------------------------------------- shares of scarce slots

constexpr AllowanceLimits hundred{
    .in_flight_max = 100, .tenant_in_flight_max = 50, .first_attempt_reserve = 0};
constexpr SlotClaim further{.rank = SlotRank::further};
constexpr SlotClaim idle{.rank = SlotRank::idle};

TEST_F(SharedAllowanceTest, SharesHoldOverAllWorkers) {  // P5
  share(hundred);
  std::uint32_t taken = 0;
  for (bool refused = false; !refused;) {
    refused = true;
    for (const std::size_t worker : {0, 1}) {
      for (const TenantIndex tenant : {acme, other}) {
        if (shared_->of(worker).take({.tenant = tenant, .unproven = true}, further, start) ==
            Permit{}) {
          ++taken;
          refused = false;
        }
      }
    }
  }
  EXPECT_EQ(taken, 50u) << "half of the slots, whichever worker takes them";
  shared_->of(1).join(2, "third", start);
  EXPECT_EQ(
      shared_->of(1).take({.tenant = 2, .unproven = true}, {.rank = SlotRank::unknown}, start),
      Permit{});
  EXPECT_TRUE(shared_->of(0).slots_taken({.tenant = acme, .unproven = true}, further));
  EXPECT_FALSE(shared_->of(0).slots_taken({.tenant = acme}, idle));
}

TEST_F(SharedAllowanceTest, ARefusedShareIsAskedForAgainLater) {
  share(hundred);
  while (shared_->of(0).take({.tenant = acme, .unproven = true}, further, start) == Permit{}) {
  }
  const Permit refused = shared_->of(1).take({.tenant = acme, .unproven = true}, further, start);
  EXPECT_EQ(refused,
            (Permit{.refused_by = Limit::tenant_slots, .again_at = start + share_retry_pause}));
  shared_->of(0).give_back({.tenant = acme, .unproven = true});
  EXPECT_EQ(shared_->of(1).take({.tenant = acme, .unproven = true}, further, start), Permit{});
}

TEST_F(SharedAllowanceTest, AReservedSlotThatAShareForbidsIsPassedOn) {
  share(hundred);
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(take(0, acme, idle), Limit::none);
  }
  EXPECT_EQ(take(1, acme, idle), Limit::tenant_slots);
  shared_->of(0).give_back({.tenant = acme});
  EXPECT_EQ(woken_, (Woken{{1, SlotReserved{"acme"}}}));
  EXPECT_EQ(shared_->of(1).take({.tenant = acme, .unproven = true}, further, start).refused_by,
            Limit::tenant_slots);
  EXPECT_EQ(take(0, acme, idle), Limit::none) << "worker 1 did not keep it";
}

TEST_F(SharedAllowanceTest, ATenantThatMovesItsAttemptsIsNoLongerActive) {
  share(hundred);
  EXPECT_EQ(shared_->of(0).take({.tenant = acme, .unproven = true}, further, start), Permit{});
  shared_->of(0).move(acme, other, 1, 1);
  shared_->of(0).give_back({.tenant = other, .unproven = true});
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(take(1, other, idle), Limit::none) << "alone again";
  }
}

}  // namespace
}  // namespace postrider
