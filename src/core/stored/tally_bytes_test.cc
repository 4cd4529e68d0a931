#include "core/stored/tally_bytes.h"

#include <limits>

#include <gtest/gtest.h>

namespace postrider::stored {
namespace {

DeliveryTally full_tally() {
  DeliveryTally tally{.published = 1,
                      .deliveries = 200,
                      .attempts = 3'000'000,
                      .succeeded = 4,
                      .retries = 5,
                      .dead_letters = std::numeric_limits<std::uint64_t>::max(),
                      .now_succeeded = 6,
                      .now_dead_letter = 7'000};
  tally.failures[0] = 7;
  tally.failures[10] = std::numeric_limits<std::uint32_t>::max();
  tally.duration_total = Micros{123'456'789'000};
  tally.durations.add(DurationHistogram::Bucket{0}, 1);
  tally.durations.add(DurationHistogram::bucket_max, 1'000'000);
  return tally;
}

TEST(TallyBytes, RoundTrip) {
  for (const DeliveryTally& tally : {DeliveryTally{}, full_tally()}) {
    std::string packed;
    pack_tally(tally, packed);
    EXPECT_EQ(unpack_tally(packed).value(), tally);
  }
  EXPECT_EQ(unpack_tally({}).value(), DeliveryTally{});
}

TEST(TallyBytes, TypicalTallyTakesAtMost44Bytes) {
  DeliveryTally tally{.published = 300, .deliveries = 300, .now_succeeded = 300};
  for (std::uint32_t i = 0; i < 300; ++i) {
    Attempt attempt;
    attempt.outcome.duration = Micros{20'000 + 50 * i};
    tally.add(attempt);
  }
  std::string packed;
  pack_tally(tally, packed);
  EXPECT_LE(packed.size(), 44u);
}

TEST(TallyBytes, TheFirstLayoutCountsAttemptsAsDeliveries) {
  // Layout, published, deliveries, attempts, succeeded, retries, dead letters, duration; no
  // failures and no durations.
  const std::string packed{"\1\1\2\5\3\2\1\11\0\0", 10};
  const Result<DeliveryTally> tally = unpack_tally(packed);
  ASSERT_TRUE(tally.has_value());
  EXPECT_EQ(tally->attempts, 5u);
  EXPECT_EQ(tally->duration_total, Micros{9});
  EXPECT_EQ(tally->now_succeeded, 3u);
  EXPECT_EQ(tally->now_dead_letter, 1u);
}

TEST(TallyBytes, DamagedBytesAreCorrupt) {
  std::string packed;
  pack_tally(full_tally(), packed);
  for (std::size_t length = 1; length < packed.size(); ++length) {
    EXPECT_EQ(unpack_tally(std::string_view{packed}.substr(0, length)).error().code, Errc::corrupt)
        << length;
  }
  EXPECT_EQ(unpack_tally(packed + "x").error().code, Errc::corrupt);
  packed[0] = 3;
  EXPECT_EQ(unpack_tally(packed).error().code, Errc::corrupt) << "unknown layout";
}

}  // namespace
}  // namespace postrider::stored
