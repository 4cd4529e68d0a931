#include "runtime/limits/shared_token_bucket.h"

#include <array>

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

const MonoTime start{1h};

bool take(SharedTokenBucket& bucket, std::size_t worker, MonoTime now) {
  if (bucket.ask(worker, now) > now) {
    return false;
  }
  bucket.take(worker, now);
  return true;
}

TEST(SharedTokenBucket, GivesOneWorkerAllTokensIfNoOtherAsks) {
  SharedTokenBucket bucket{{.count = 10, .period = 1s, .burst = 2}, start};
  EXPECT_TRUE(take(bucket, 0, start));
  EXPECT_TRUE(take(bucket, 0, start));
  for (int token = 1; token <= 5; ++token) {
    EXPECT_EQ(bucket.ask(0, start + (token - 1) * 100ms), start + token * 100ms);
    EXPECT_TRUE(take(bucket, 0, start + token * 100ms));
  }
}

TEST(SharedTokenBucket, TheThirdTurnWaitsForTheThirdToken) {
  SharedTokenBucket bucket{{.count = 10, .period = 1s, .burst = 1}, start};
  EXPECT_TRUE(take(bucket, 0, start));
  EXPECT_EQ(bucket.ask(0, start), start + 100ms);
  EXPECT_EQ(bucket.ask(1, start), start + 200ms);
  EXPECT_EQ(bucket.ask(2, start), start + 300ms);
  // Asking early does not help: the first token belongs to worker 0.
  EXPECT_FALSE(take(bucket, 2, start + 100ms));
  EXPECT_TRUE(take(bucket, 0, start + 101ms));
  EXPECT_FALSE(take(bucket, 2, start + 200ms));
  EXPECT_TRUE(take(bucket, 1, start + 201ms));
  EXPECT_TRUE(take(bucket, 2, start + 301ms));
}

TEST(SharedTokenBucket, AWorkerThatAlwaysAsksFirstGetsNoMoreThanItsShare) {
  SharedTokenBucket bucket{{.count = 10, .period = 1s, .burst = 1}, start};
  std::array<int, 3> taken{};
  for (MonoTime now = start; now < start + 30s; now += 1ms) {
    for (std::size_t worker = 0; worker < taken.size(); ++worker) {
      taken[worker] += take(bucket, worker, now) ? 1 : 0;
    }
  }
  EXPECT_EQ(taken, (std::array{100, 100, 100}));
}

TEST(SharedTokenBucket, AnUnusedTurnLapses) {
  SharedTokenBucket bucket{{.count = 10, .period = 1s, .burst = 2}, start};
  EXPECT_TRUE(take(bucket, 0, start));
  EXPECT_TRUE(take(bucket, 0, start));
  EXPECT_EQ(bucket.ask(1, start), start + 100ms);
  EXPECT_EQ(bucket.ask(0, start), start + 200ms);
  // Worker 1 does not ask again. Its token is not lost.
  EXPECT_FALSE(take(bucket, 0, start + 150ms));
  EXPECT_TRUE(take(bucket, 0, start + 201ms));
  EXPECT_TRUE(take(bucket, 0, start + 201ms));
  EXPECT_EQ(bucket.free_at(start + 201ms), start + 301ms);  // The bucket was full for a moment.
}

TEST(SharedTokenBucket, APostponedTurnIsKept) {
  SharedTokenBucket bucket{{.count = 1, .period = 1s, .burst = 1}, start};
  EXPECT_EQ(bucket.ask(0, start), start);
  bucket.postpone(0, start + 5s);
  EXPECT_FALSE(take(bucket, 1, start + 4s));
  EXPECT_TRUE(take(bucket, 0, start + 5s));
}

}  // namespace
}  // namespace postrider
