// runtime/limits/allowance_test.cc tests what every Allowance must do.
#include <gtest/gtest.h>

#include "engine/shard/allowance.h"
#include "engine/shard/shard.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start{1h};
constexpr SlotUse acme{.tenant = 3};

TEST(LocalAllowance, HasTheLimitsOfItsShard) {
  ShardOptions options;
  options.in_flight_max = 40;
  options.tenant_in_flight_max = 30;
  options.first_attempt_reserve = 20;
  options.host_in_flight_max = 10;
  options.tenant_rate = RateLimit{.count = 5, .period = 1s, .burst = 6};
  options.total_rate = RateLimit{.count = 7, .period = 1s, .burst = 8};
  const AllowanceLimits limits = limits_of(options);
  EXPECT_EQ(limits.in_flight_max, 40u);
  EXPECT_EQ(limits.tenant_in_flight_max, 30u);
  EXPECT_EQ(limits.first_attempt_reserve, 20u);
  EXPECT_EQ(limits.host_in_flight_max, 10u);
  EXPECT_EQ(limits.tenant_rate, options.tenant_rate);
  EXPECT_EQ(limits.total_rate, options.total_rate);
}

TEST(LocalAllowance, ForgetsTheTokensOfATenantThatLeft) {
  const auto allowance =
      make_local_allowance({.tenant_rate = RateLimit{.count = 1, .period = 1h, .burst = 1}});
  allowance->join(acme.tenant, "acme", start);
  EXPECT_EQ(allowance->take(acme, {}, start), Permit{});
  EXPECT_EQ(allowance->token_at(acme.tenant, start), start + 1h);
  allowance->give_back(acme);
  allowance->leave(acme.tenant);
  allowance->join(acme.tenant, "other", start);
  EXPECT_EQ(allowance->token_at(acme.tenant, start), std::nullopt);
}

TEST(LocalAllowance, NeverReservesSlots) {
  const auto allowance = make_local_allowance(
      {.in_flight_max = 1, .tenant_in_flight_max = 1, .first_attempt_reserve = 0});
  allowance->join(acme.tenant, "acme", start);
  EXPECT_EQ(allowance->take(acme, {}, start), Permit{});
  EXPECT_EQ(allowance->take(acme, {}, start).refused_by, Limit::total_slots);
  allowance->give_back(acme);
  allowance->release_reserved();
  allowance->release_reserved(acme.tenant);
  EXPECT_EQ(allowance->take(acme, {}, start), Permit{});
}

}  // namespace
}  // namespace postrider
