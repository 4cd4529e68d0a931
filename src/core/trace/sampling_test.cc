#include "core/trace/sampling.h"

#include <gtest/gtest.h>

#include "core/base/ids.h"

namespace postrider {
namespace {

TraceId with_low_bits(std::uint8_t byte) {
  TraceId id;
  id.bytes.fill(byte);
  return id;
}

TEST(Sampling, ZeroChoosesNoneAndOneChoosesAll) {
  for (const int byte : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
    const TraceId id = with_low_bits(static_cast<std::uint8_t>(byte));
    EXPECT_FALSE(is_in_sample(id, 0));
    EXPECT_TRUE(is_in_sample(id, 1));
  }
}

TEST(Sampling, DependsOnTheLower56BitsOnly) {
  TraceId id = with_low_bits(0x80);
  EXPECT_TRUE(is_in_sample(id, 0.5));
  id.bytes[8] = 0;
  EXPECT_TRUE(is_in_sample(id, 0.5));
  id.bytes[9] = 0x7f;
  EXPECT_FALSE(is_in_sample(id, 0.5));
}

TEST(Sampling, ChoosesAboutTheShareOfNewEvents) {
  UuidGenerator ids{7};
  int chosen = 0;
  int chosen_less = 0;
  for (int i = 0; i < 100'000; ++i) {
    const TraceId id{ids.next(wall_from_unix_ms(1'767'225'600'000 + i / 50))};
    const bool in_one_percent = is_in_sample(id, 0.01);
    chosen += is_in_sample(id, 0.1) ? 1 : 0;
    chosen_less += in_one_percent ? 1 : 0;
    EXPECT_TRUE(!in_one_percent || is_in_sample(id, 0.1)) << "a higher ratio chooses it too";
  }
  EXPECT_NEAR(chosen, 10'000, 500);
  EXPECT_NEAR(chosen_less, 1'000, 160);
}

}  // namespace
}  // namespace postrider
