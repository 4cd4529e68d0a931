#include "engine/shard/node_share.h"

#include <limits>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t huge = std::numeric_limits<std::uint32_t>::max();

TEST(NodeShare, DividesTheSlotsOfTenantsAndHostsByTheNumberOfNodes) {
  const AllowanceLimits share = share_of({.in_flight_max = 4096,
                                          .tenant_in_flight_max = 2048,
                                          .first_attempt_reserve = 1024,
                                          .host_in_flight_max = 100},
                                         4);
  EXPECT_EQ(share.tenant_in_flight_max, 512u);
  EXPECT_EQ(share.host_in_flight_max, 25u);
}

TEST(NodeShare, KeepsTheSlotsOfEachMachine) {
  const AllowanceLimits share = share_of({.in_flight_max = 4096, .first_attempt_reserve = 1024}, 4);
  EXPECT_EQ(share.in_flight_max, 4096u);
  EXPECT_EQ(share.first_attempt_reserve, 1024u);
}

TEST(NodeShare, OfOneNodeOrNoneIsTheWhole) {
  const AllowanceLimits whole{.in_flight_max = 7,
                              .tenant_in_flight_max = 5,
                              .first_attempt_reserve = 3,
                              .host_in_flight_max = 2,
                              .tenant_rate = RateLimit{.count = 3, .period = 1s, .burst = 4},
                              .total_rate = RateLimit{.count = 9, .period = 1min, .burst = 1}};
  for (const std::uint32_t nodes : {0u, 1u}) {
    const AllowanceLimits share = share_of(whole, nodes);
    EXPECT_EQ(share.in_flight_max, 7u);
    EXPECT_EQ(share.tenant_in_flight_max, 5u);
    EXPECT_EQ(share.first_attempt_reserve, 3u);
    EXPECT_EQ(share.host_in_flight_max, 2u);
    EXPECT_EQ(share.tenant_rate, whole.tenant_rate);
    EXPECT_EQ(share.total_rate, whole.total_rate);
  }
}

TEST(NodeShare, SharesTogetherNeverExceedALimitThatCanBeDivided) {  // P7
  for (std::uint32_t nodes = 1; nodes <= 20; ++nodes) {
    for (std::uint32_t max = nodes; max <= 100; ++max) {
      SCOPED_TRACE(testing::Message() << nodes << " nodes, " << max << " slots");
      const AllowanceLimits share =
          share_of({.tenant_in_flight_max = max, .host_in_flight_max = max}, nodes);
      EXPECT_LE(share.tenant_in_flight_max * nodes, max);
      EXPECT_LE(*share.host_in_flight_max * nodes, max);
      EXPECT_GT((share.tenant_in_flight_max + 1) * nodes, max) << "no slot is wasted";
    }
  }
}

TEST(NodeShare, IsAtLeastOneSlot) {
  const AllowanceLimits share =
      share_of({.tenant_in_flight_max = 1, .host_in_flight_max = 1}, huge);
  EXPECT_EQ(share.tenant_in_flight_max, 1u);
  EXPECT_EQ(share.host_in_flight_max, 1u);
  EXPECT_EQ(share_of({.tenant_in_flight_max = huge}, huge).tenant_in_flight_max, 1u);
}

TEST(NodeShare, ARateKeepsItsPeriodIfItCanBeDivided) {
  EXPECT_EQ(share_of(RateLimit{.count = 90, .period = 1min, .burst = 10}, 3),
            (RateLimit{.count = 30, .period = 1min, .burst = 3}));
}

TEST(NodeShare, AnIndivisibleRateGetsALongerPeriod) {  // P7
  EXPECT_EQ(share_of(RateLimit{.count = 1, .period = 1s, .burst = 1}, 3),
            (RateLimit{.count = 1, .period = 3s, .burst = 1}));
  EXPECT_EQ(share_of(RateLimit{.count = 5, .period = 1s, .burst = 5}, 3),
            (RateLimit{.count = 5, .period = 3s, .burst = 1}));
  EXPECT_EQ(share_of(RateLimit{.count = 3, .period = 0ms, .burst = 0}, 2),
            (RateLimit{.count = 3, .period = 2ms, .burst = 1}))
      << "less than a millisecond counts as one";
}

TEST(NodeShare, OfExtremeRatesDoesNotOverflow) {
  EXPECT_EQ(share_of(RateLimit{.count = 0, .period = 1s, .burst = 1}, 3),
            (RateLimit{.count = 0, .period = 1s, .burst = 1}));
  EXPECT_EQ(share_of(RateLimit{.count = huge, .period = Millis::max(), .burst = huge}, 2),
            (RateLimit{.count = huge, .period = Millis::max(), .burst = huge / 2}));
  EXPECT_EQ(share_of(RateLimit{.count = 1, .period = 24h, .burst = huge}, huge),
            (RateLimit{.count = 1, .period = Millis{24h} * huge, .burst = 1}));
}

TEST(NodeShare, TokensOfAllNodesTogetherKeepToTheRate) {  // P7
  const RateLimit whole{.count = 7, .period = 1s, .burst = 3};
  for (const std::uint32_t nodes : {1u, 2u, 3u}) {
    constexpr MonoTime start{1h};
    std::vector<TokenBucket> buckets(nodes, TokenBucket{share_of(whole, nodes), start});
    std::uint32_t taken = 0;
    for (MonoTime now = start; now <= start + 60s; now += 1ms) {
      for (TokenBucket& bucket : buckets) {
        taken += bucket.try_take(now) ? 1 : 0;
      }
    }
    EXPECT_LE(taken, 7u * 60 + 3) << nodes;
    EXPECT_GE(taken, 7u * 60) << nodes;
  }
}

}  // namespace
}  // namespace postrider
