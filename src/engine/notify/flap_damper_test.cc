#include "engine/notify/flap_damper.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
const AlertSubject orders{AlertKind::circuit_opened, WebhookId{{1}}};
const AlertSubject invoices{AlertKind::circuit_opened, WebhookId{{2}}};

TEST(FlapDamper, ThePauseDoublesWhileTheSubjectKeepsChanging) {
  FlapDamper damper;
  WallTime now = noon;
  EXPECT_EQ(damper.not_before(orders, now), now);
  damper.told(orders, now, 1min);
  for (const Millis pause : {1min, 2min, 4min, 8min, 16min, 32min, 60min, 60min}) {
    EXPECT_EQ(damper.not_before(orders, now), now + pause);
    now += pause;
    EXPECT_EQ(damper.not_before(orders, now), now);
    damper.told(orders, now, 1min);
  }
}

TEST(FlapDamper, AQuietSubjectStartsAgain) {
  FlapDamper damper;
  damper.told(orders, noon, 1min);
  damper.told(orders, noon + 1min, 1min);
  EXPECT_EQ(damper.not_before(orders, noon + 1min), noon + 3min);
  damper.told(orders, noon + 7min, 1min);  // 2 × (2 min + 1 min) later.
  EXPECT_EQ(damper.not_before(orders, noon + 7min), noon + 8min);
}

TEST(FlapDamper, SubjectsDoNotAffectEachOther) {
  FlapDamper damper;
  damper.told(orders, noon, 1min);
  EXPECT_EQ(damper.not_before(invoices, noon), noon);
}

TEST(FlapDamper, WithoutAWindowNothingIsDamped) {
  FlapDamper damper;
  damper.told(orders, noon, 0ms);
  damper.told(orders, noon, 0ms);
  EXPECT_EQ(damper.not_before(orders, noon), noon);
}

TEST(FlapDamper, IsIdleWhenAllHaveBeenQuiet) {
  FlapDamper damper;
  EXPECT_TRUE(damper.is_idle(noon));
  damper.told(orders, noon, 1min);
  EXPECT_FALSE(damper.is_idle(noon + 2h - 1ms));
  EXPECT_TRUE(damper.is_idle(noon + 2h));
}

TEST(FlapDamper, ManySubjectsDoNotUseMoreMemory) {
  FlapDamper damper;
  for (std::uint8_t first = 0; first < 100; ++first) {
    for (std::uint8_t second = 0; second < 100; ++second) {
      damper.told({AlertKind::circuit_opened, WebhookId{{first, second}}}, noon + first * 3min,
                  1min);
    }
  }
  EXPECT_EQ(damper.not_before({AlertKind::circuit_opened, WebhookId{{0, 0}}}, noon), noon);
}

}  // namespace
}  // namespace postrider
