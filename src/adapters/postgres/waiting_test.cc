#include "adapters/postgres/waiting.h"

#include <system_error>

#include <gtest/gtest.h>
#include <sys/resource.h>
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

TEST(Waiting, ADeadlineNeedsNoDescriptor) {
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Deadline deadline{Millis{1}};
  const Deadline late{Millis{3'600'000}};
  EXPECT_THROW(Interruption{}, std::system_error);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_EQ(wait(-1, Direction::read, nullptr, deadline), Woken::expired);
  EXPECT_GT(late.left(), Millis{3'500'000});
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
