#include "adapters/postgres/waiting.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace postrider::postgres {
namespace {

TEST(Waiting, AnInterruptionStaysSetUntilItIsCleared) {
  Interruption interruption;
  EXPECT_FALSE(interruption.is_set());
  interruption.set();
  interruption.set();
  EXPECT_TRUE(interruption.is_set());
  EXPECT_EQ(wait(-1, Direction::read, &interruption, Deadline{Millis{60'000}}), Woken::interrupted);
  interruption.clear();
  EXPECT_FALSE(interruption.is_set());
}

TEST(Waiting, ASpanOfZeroIsOverAtOnce) {
  EXPECT_EQ(wait(-1, Direction::read, nullptr, Deadline{Millis{0}}), Woken::expired);
  EXPECT_EQ(wait(-1, Direction::read, nullptr, Deadline{Millis{-5}}), Woken::expired);
}

TEST(Waiting, ADeadlineIsOnlyShortened) {
  Deadline deadline{Millis{0}};
  deadline.shorten(Millis{3'600'000});
  EXPECT_EQ(wait(-1, Direction::read, nullptr, deadline), Woken::expired);
  Deadline late{Millis{3'600'000}};
  late.shorten(Millis{1});
  EXPECT_EQ(wait(-1, Direction::read, nullptr, late), Woken::expired);
}

TEST(Waiting, AReadySocketWins) {
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  const Descriptor read_end{pipes[0]};
  const Descriptor write_end{pipes[1]};
  Interruption interruption;
  interruption.set();
  EXPECT_EQ(wait(read_end.get(), Direction::read, &interruption, Deadline{Millis{0}}),
            Woken::interrupted);
  EXPECT_EQ(wait(write_end.get(), Direction::write, &interruption, Deadline{Millis{0}}),
            Woken::ready);
}

}  // namespace
}  // namespace postrider::postgres
