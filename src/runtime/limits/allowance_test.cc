// The contract of Allowance, run on the one that a single shard owns and on the one that several
// workers share.
#include "engine/shard/allowance.h"

#include <gtest/gtest.h>

#include "runtime/limits/shared_allowance.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start{1h};
constexpr TenantIndex acme = 0;
constexpr TenantIndex other = 1;
constexpr SlotClaim first{};
constexpr SlotClaim retry{.candidates = Candidates::all, .rank = SlotRank::retry};

enum class Kind : std::uint8_t { own, shared };

class AllowanceTest : public testing::TestWithParam<Kind> {
 protected:
  void limit(const AllowanceLimits& limits) {
    if (GetParam() == Kind::own) {
      own_ = make_local_allowance(limits);
      allowance_ = own_.get();
    } else {
      shared_.emplace(limits, 1, [](std::size_t, const SlotReserved&) {});
      allowance_ = &shared_->of(0);
    }
    allowance_->join(acme, "acme", start);
    allowance_->join(other, "other", start);
  }
  [[nodiscard]] Permit ask(TenantIndex tenant, MonoTime now = start) {
    return allowance_->take({tenant}, first, now);
  }
  [[nodiscard]] Limit take(TenantIndex tenant, const SlotClaim& claim = first,
                           HostIndex host = no_host) {
    return allowance_->take({tenant, host}, claim, start).refused_by;
  }

  std::unique_ptr<Allowance> own_;
  std::optional<SharedAllowance> shared_;
  Allowance* allowance_ = nullptr;
};

TEST_P(AllowanceTest, GrantsAsManySlotsAsTheLimit) {  // P7
  limit({.in_flight_max = 2, .tenant_in_flight_max = 2, .first_attempt_reserve = 0});
  EXPECT_EQ(take(acme), Limit::none);
  EXPECT_EQ(take(other), Limit::none);
  EXPECT_EQ(take(acme), Limit::total_slots);
  EXPECT_TRUE(allowance_->slots_taken({acme}, {}));
  allowance_->give_back({other});
  EXPECT_EQ(take(acme), Limit::none);
}

TEST_P(AllowanceTest, CountsTheSlotsOfEachTenant) {
  limit({.in_flight_max = 9, .tenant_in_flight_max = 1, .first_attempt_reserve = 0});
  EXPECT_EQ(take(acme), Limit::none);
  EXPECT_EQ(take(acme), Limit::tenant_slots);
  EXPECT_TRUE(allowance_->slots_taken({acme}, {}));
  EXPECT_EQ(take(other), Limit::none);
}

TEST_P(AllowanceTest, CountsTheSlotsOfEachHost) {  // P7
  limit({.in_flight_max = 4, .tenant_in_flight_max = 3, .host_in_flight_max = 2});
  allowance_->join_host(0, "one.example");
  allowance_->join_host(1, "two.example");
  EXPECT_EQ(take(acme, first, 0), Limit::none);
  EXPECT_EQ(take(other, first, 0), Limit::none);
  EXPECT_EQ(take(acme, first, 0), Limit::host_slots);
  EXPECT_EQ(take(acme, first, 1), Limit::none);
  EXPECT_EQ(take(acme, first, 1), Limit::none) << "a refusal takes no slot";
  EXPECT_EQ(take(other, first), Limit::total_slots);
  allowance_->give_back({other, 0});
  EXPECT_EQ(take(other, first, 0), Limit::none);
  allowance_->give_back({acme, 1});
  allowance_->give_back({acme, 1});
  allowance_->leave_host(1);
}

TEST_P(AllowanceTest, AFullHostCostsNoToken) {
  limit({.host_in_flight_max = 1, .tenant_rate = RateLimit{.count = 2, .period = 1h, .burst = 2}});
  allowance_->join_host(0, "one.example");
  EXPECT_EQ(take(acme, first, 0), Limit::none);
  EXPECT_EQ(take(acme, first, 0), Limit::host_slots);
  EXPECT_EQ(take(acme, first, 0), Limit::host_slots);
  EXPECT_EQ(take(acme, first), Limit::none);
  EXPECT_EQ(take(acme, first), Limit::tenant_rate);
}

TEST_P(AllowanceTest, KeepsTheReserveFromRetries) {
  limit({.in_flight_max = 3, .tenant_in_flight_max = 3, .first_attempt_reserve = 2});
  EXPECT_EQ(allowance_->candidates(), widest_rank);
  EXPECT_EQ(take(acme, retry), Limit::none);
  EXPECT_EQ(allowance_->candidates(), SlotRank::unknown);
  EXPECT_EQ(take(acme, retry), Limit::total_slots);
  EXPECT_EQ(take(acme, first), Limit::none);
}

TEST_P(AllowanceTest, AlwaysLeavesOneSlotForRetries) {
  limit({.in_flight_max = 2, .tenant_in_flight_max = 2, .first_attempt_reserve = 2});
  EXPECT_EQ(take(acme, retry), Limit::none);
  EXPECT_EQ(take(acme, retry), Limit::total_slots);
}

TEST_P(AllowanceTest, GivesATrialTheSlotThatAProvenWebhookGaveBack) {  // P5
  limit({.in_flight_max = 16, .tenant_in_flight_max = 8, .first_attempt_reserve = 0});
  const SlotClaim idle{.rank = SlotRank::idle};
  for (const TenantIndex tenant : {acme, other}) {
    while (take(tenant, idle) == Limit::none) {
    }
  }
  allowance_->give_back({other});
  const SlotUse unproven{.tenant = other, .unproven = true};
  const SlotClaim ordinary{.rank = SlotRank::unknown};
  const SlotClaim trial{.rank = SlotRank::unknown, .trial = true};
  EXPECT_EQ(allowance_->take(unproven, ordinary, start).refused_by, Limit::tenant_slots);
  EXPECT_EQ(allowance_->trial_candidates(), SlotRank::suspect);
  EXPECT_FALSE(allowance_->slots_taken(unproven, trial));
  EXPECT_EQ(allowance_->take(unproven, trial, start), Permit{});
  EXPECT_EQ(allowance_->trial_candidates(), SlotRank::doubtful);
  allowance_->give_back(unproven);
  EXPECT_EQ(allowance_->trial_candidates(), SlotRank::suspect);
}

TEST_P(AllowanceTest, ReturnsWhenTheTenantHasItsNextToken) {
  limit({.tenant_rate = RateLimit{.count = 2, .period = 1s, .burst = 1}});
  EXPECT_EQ(ask(acme), Permit{});
  EXPECT_EQ(ask(acme), (Permit{.refused_by = Limit::tenant_rate, .again_at = start + 500ms}));
  EXPECT_EQ(ask(other), Permit{});
  EXPECT_EQ(ask(acme, start + 500ms), Permit{});
}

TEST_P(AllowanceTest, ReturnsWhenTheServerHasItsNextToken) {
  limit({.total_rate = RateLimit{.count = 2, .period = 1s, .burst = 1}});
  EXPECT_EQ(allowance_->token_at(acme, start), std::nullopt);
  EXPECT_EQ(ask(acme), Permit{});
  EXPECT_EQ(ask(other), (Permit{.refused_by = Limit::total_rate, .again_at = start + 500ms}));
  EXPECT_EQ(ask(other, start + 500ms), Permit{});
}

TEST_P(AllowanceTest, TakesNothingIfAnyLimitRefuses) {
  limit({.in_flight_max = 1,
         .tenant_in_flight_max = 1,
         .first_attempt_reserve = 0,
         .total_rate = RateLimit{.count = 1, .period = 1s, .burst = 2}});
  EXPECT_EQ(take(acme), Limit::none);
  EXPECT_EQ(take(acme), Limit::total_slots);
  allowance_->give_back({acme});
  EXPECT_EQ(take(acme), Limit::none);  // The token was still there.
  allowance_->give_back({acme});
  EXPECT_EQ(take(acme), Limit::total_rate);
  EXPECT_FALSE(allowance_->slots_taken({acme}, {}));
}

TEST_P(AllowanceTest, CountsMovedAttemptsForTheirNewTenant) {
  limit({.in_flight_max = 9, .tenant_in_flight_max = 1, .first_attempt_reserve = 0});
  EXPECT_EQ(take(acme), Limit::none);
  allowance_->move(acme, other, 1, 0);
  EXPECT_EQ(take(acme), Limit::none);
  EXPECT_EQ(take(other), Limit::tenant_slots);
}

INSTANTIATE_TEST_SUITE_P(Own, AllowanceTest, testing::Values(Kind::own));
INSTANTIATE_TEST_SUITE_P(Shared, AllowanceTest, testing::Values(Kind::shared));

}  // namespace
}  // namespace postrider
