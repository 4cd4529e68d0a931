#include "engine/shard/origins.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(Origins, AreSchemeHostAndPort) {
  Origins origins{4};
  const OriginIndex one = origins.join("https://one.example/a?b");
  EXPECT_EQ(origins.join("HTTPS://One.Example?x=/"), one);
  EXPECT_EQ(origins.join("https://one.example:443/a"), one) << "one origin has many spellings";
  EXPECT_EQ(origins.join("https://one.example./"), one);
  EXPECT_NE(origins.join("https://one.example:8443/a"), one);
  EXPECT_NE(origins.join("http://one.example/a"), one);
  EXPECT_NE(origins.join("https://one.example.org/a"), one);
  EXPECT_EQ(origins.size(), 4u);
}

TEST(Origins, AreForgottenAfterTheLastLaneAndAttempt) {
  Origins origins{4};
  const OriginIndex one = origins.join("https://one.example/");
  origins.attempt_started(one, true);
  origins.leave(one);
  EXPECT_EQ(origins.size(), 1u);
  origins.attempt_ended(one, true, false);
  EXPECT_EQ(origins.size(), 0u);
  EXPECT_EQ(origins.join("https://two.example/"), one) << "the index is reused";
  EXPECT_FALSE(origins.doubtful(one));
}

TEST(Origins, AnAttemptThatHangsMakesThemDoubtfulAndAnAnswerTrusted) {
  Origins origins{4};
  const OriginIndex one = origins.join("https://one.example/");
  origins.attempt_started(one, true);
  EXPECT_FALSE(origins.doubtful(one));
  origins.attempt_slow(one);
  EXPECT_TRUE(origins.doubtful(one));
  origins.attempt_started(one, false);
  origins.attempt_ended(one, false, true);
  EXPECT_FALSE(origins.doubtful(one));
}

TEST(Origins, FewWebhooksAreTriedAtATime) {
  Origins origins{2};
  const OriginIndex one = origins.join("https://one.example/");
  origins.attempt_started(one, false);
  origins.attempt_started(one, true);
  EXPECT_FALSE(origins.doubtful(one));
  origins.attempt_started(one, true);
  EXPECT_TRUE(origins.doubtful(one));
  origins.attempt_abandoned(one, true);
  EXPECT_FALSE(origins.doubtful(one));
}

}  // namespace
}  // namespace postrider
