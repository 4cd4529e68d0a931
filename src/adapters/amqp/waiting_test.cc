#include "adapters/amqp/waiting.h"

#include <gtest/gtest.h>

namespace postrider::amqp {
namespace {

TEST(Deadline, EndsAfterItsSpan) {
  EXPECT_TRUE(Deadline{Millis{0}}.is_over());
  Deadline deadline{Millis{3'600'000}};
  EXPECT_FALSE(deadline.is_over());
  EXPECT_LE(deadline.left(), Millis{3'600'001});
  deadline.restart(Millis{1});
  WakeUp never;
  while (!deadline.is_over()) {
    EXPECT_FALSE(never.wait(-1, deadline.left()));
  }
  deadline.restart(Millis{3'600'000});
  EXPECT_FALSE(deadline.is_over());
}

TEST(WakeUp, EndsOneWait) {
  WakeUp wake_up;
  wake_up.set();
  wake_up.set();
  EXPECT_TRUE(wake_up.wait(-1, Millis{3'600'000}));
  EXPECT_FALSE(wake_up.wait(-1, Millis{0}));
}

}  // namespace
}  // namespace postrider::amqp
