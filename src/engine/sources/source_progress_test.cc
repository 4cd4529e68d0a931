#include "engine/sources/source_progress.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime start = wall_from_unix_ms(1'800'000'000'000);

TEST(SourceBackoff, DoublesUpToItsMaximum) {
  const Millis expected[] = {1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 300s, 300s};
  for (std::uint32_t nth = 1; nth <= 11; ++nth) {
    EXPECT_EQ(backoff_delay(nth, reconnect_backoff, 0), expected[nth - 1]) << nth;
  }
  EXPECT_EQ(backoff_delay(4'000'000'000, reconnect_backoff, 0), 300s);
  EXPECT_EQ(backoff_delay(1, deferral_backoff, 0), 100ms);
  EXPECT_EQ(backoff_delay(7, deferral_backoff, 0), 6'400ms);
  EXPECT_EQ(backoff_delay(8, deferral_backoff, 0), 10s);
}

TEST(SourceBackoff, JitterShortensByUpToAFifth) {
  EXPECT_EQ(backoff_delay(1, reconnect_backoff, 0.5), 900ms);
  EXPECT_EQ(backoff_delay(1, reconnect_backoff, 0.999999), 800ms);
  EXPECT_EQ(backoff_delay(20, reconnect_backoff, 0.5), 270s);
}

TEST(SourceProgress, IsConnectedAfterTheFirstReceive) {
  SourceProgress progress{start};
  EXPECT_EQ(progress.state(), SourceState::starting);
  EXPECT_TRUE(progress.needs_connect());
  progress.connected();
  EXPECT_FALSE(progress.needs_connect());
  progress.received(0, false, start + 5ms);
  EXPECT_EQ(progress.state(), SourceState::connected);
  EXPECT_EQ(progress.since(), start + 5ms);
  progress.received(7, false, start + 9ms);
  EXPECT_EQ(progress.since(), start + 5ms);
  EXPECT_EQ(progress.counts().received, 7u);
  EXPECT_EQ(progress.counts().reconnects, 0u);
}

TEST(SourceProgress, IsFailingAfterThreeFailedAttemptsToConnect) {
  SourceProgress progress{start};
  EXPECT_EQ(progress.failed("Away.", start + 1s, 0), 1s);
  EXPECT_EQ(progress.state(), SourceState::reconnecting);
  EXPECT_EQ(progress.failed("Away.", start + 2s, 0), 2s);
  EXPECT_EQ(progress.state(), SourceState::reconnecting);
  EXPECT_EQ(progress.since(), start + 1s);
  EXPECT_EQ(progress.failed("Gone.", start + 4s, 0), 4s);
  EXPECT_EQ(progress.state(), SourceState::failing);
  EXPECT_EQ(progress.since(), start + 4s);
  EXPECT_EQ(progress.reason(), "Gone.");
  EXPECT_EQ(progress.failed_connects(), 3u);
}

TEST(SourceProgress, TheLossOfAConnectionIsNotAFailedAttempt) {
  SourceProgress progress{start};
  progress.connected();
  progress.received(1, false, start);
  EXPECT_EQ(progress.failed("Cut.", start + 1s, 0), 1s);
  EXPECT_EQ(progress.failed_connects(), 0u);
  EXPECT_TRUE(progress.needs_connect());
  EXPECT_EQ(progress.failed("Away.", start + 2s, 0), 2s);
  EXPECT_EQ(progress.failed("Away.", start + 3s, 0), 4s);
  EXPECT_EQ(progress.state(), SourceState::reconnecting);
  EXPECT_EQ(progress.failed("Away.", start + 4s, 0), 8s);
  EXPECT_EQ(progress.state(), SourceState::failing);
}

TEST(SourceProgress, AServerThatAcceptsConnectionsAndServesNothingIsFailing) {
  SourceProgress progress{start};
  for (const Millis delay : {Millis{1s}, Millis{2s}, Millis{4s}}) {
    progress.connected();
    EXPECT_EQ(progress.failed("There is no such table.", start, 0), delay);
  }
  EXPECT_EQ(progress.state(), SourceState::failing);
}

TEST(SourceProgress, AReceiveEndsTheFailure) {
  SourceProgress progress{start};
  for (int attempt = 0; attempt < 5; ++attempt) {
    (void)progress.failed("Away.", start, 0);
  }
  progress.connected();
  EXPECT_EQ(progress.state(), SourceState::failing);
  progress.received(0, false, start + 1min);
  EXPECT_EQ(progress.state(), SourceState::connected);
  EXPECT_EQ(progress.since(), start + 1min);
  EXPECT_EQ(progress.reason(), std::nullopt);
  EXPECT_EQ(progress.failed("Cut.", start + 2min, 0), 1s);
  progress.connected();
  EXPECT_EQ(progress.counts().reconnects, 1u);
}

TEST(SourceProgress, AnotherNodeReads) {
  SourceProgress progress{start};
  progress.connected();
  progress.received(0, true, start);
  EXPECT_EQ(progress.state(), SourceState::standby);
  progress.received(2, false, start + 1s);
  EXPECT_EQ(progress.state(), SourceState::connected);
}

TEST(SourceProgress, DeferredMessagesSlowTheSourceDown) {
  SourceProgress progress{start};
  progress.connected();
  progress.received(2, false, start);
  EXPECT_EQ(progress.settled({.deferred = 2}, 0), 100ms);
  EXPECT_EQ(progress.settled({.stored = 1, .deferred = 1}, 0), 200ms);
  EXPECT_EQ(progress.reason(),
            "This server cannot store events at present. The messages wait in the source.");
  EXPECT_EQ(progress.state(), SourceState::connected);
  EXPECT_EQ(progress.settled({.stored = 2}, 0), 0ms);
  EXPECT_EQ(progress.reason(), std::nullopt);
  EXPECT_EQ(progress.settled({.deferred = 1}, 0), 100ms);
}

TEST(SourceProgress, CountsWhatBecomesOfMessages) {
  SourceProgress progress{start};
  const BatchCounts batch{.stored = 3, .duplicates = 2, .rejected = 1, .deferred = 4};
  progress.received(10, false, start);
  progress.published(batch, start + 1s);
  EXPECT_EQ(progress.counts().rejected, 0u) << "the source does not know it yet";
  (void)progress.settled(batch, 0);
  EXPECT_EQ(progress.counts(), (SourceCounts{.received = 10,
                                             .stored = 3,
                                             .duplicates = 2,
                                             .rejected = 1,
                                             .deferred = 4,
                                             .reconnects = 0}));
  EXPECT_EQ(progress.last_event_at(), start + 1s);
  progress.published({.duplicates = 1}, start + 2s);
  EXPECT_EQ(progress.last_event_at(), start + 1s);
}

TEST(SourceProgress, APausedSourceConnectsAgainWhenItIsResumed) {
  SourceProgress progress{start};
  progress.connected();
  progress.received(0, false, start);
  progress.pause(start + 1s);
  EXPECT_EQ(progress.state(), SourceState::paused);
  EXPECT_EQ(progress.since(), start + 1s);
  EXPECT_TRUE(progress.is_paused());
  progress.connected();
  progress.received(0, false, start + 1s);  // Was under way.
  EXPECT_EQ(progress.state(), SourceState::paused);
  progress.resume(start + 2s);
  EXPECT_EQ(progress.state(), SourceState::reconnecting);
  EXPECT_TRUE(progress.needs_connect());
  progress.connected();
  progress.resume(start + 3s);
  EXPECT_FALSE(progress.needs_connect()) << "it was not paused";
  progress.stop(start + 3s);
  EXPECT_EQ(progress.state(), SourceState::stopped);
}

TEST(SourceProgress, StatesHaveNames) {
  EXPECT_EQ(to_string(SourceState::starting), "starting");
  EXPECT_EQ(to_string(SourceState::standby), "standby");
  EXPECT_EQ(to_string(SourceState::stopped), "stopped");
}

}  // namespace
}  // namespace postrider
