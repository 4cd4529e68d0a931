#include "engine/alert_rules.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);
const WebhookId webhook{{1}};
const WebhookId other{{2}};

class Alerts : public testing::Test {
 protected:
  std::vector<AlertChange> die(WallTime at, WebhookId id = webhook) {
    return rules_.attempted({.webhook_id = id, .dead = true}, at);
  }
  std::vector<AlertChange> attempt(bool dns_failed, WallTime at) {
    return rules_.attempted({.webhook_id = webhook, .dns_failed = dns_failed}, at);
  }

  AlertRules rules_;
};

AlertChange over(AlertKind kind, WebhookId id = webhook) {
  return {.subject = {kind, id}, .active = false, .detail = {}};
}

TEST_F(Alerts, TheEleventhDeadLetterOfAnHourIsOneTooMany) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(die(noon).empty());
  }
  const std::vector<AlertChange> raised = die(noon + 1h - 1ms);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].subject, (AlertSubject{AlertKind::dead_letters, webhook}));
  EXPECT_TRUE(raised[0].active);
  EXPECT_EQ(raised[0].detail, "More than 10 deliveries became dead letters within 60 minutes.");
  EXPECT_TRUE(die(noon + 1h - 1ms).empty());  // Once is enough.
}

TEST_F(Alerts, ElevenDeadLettersInAnHourAndAMillisecondAreNotTooMany) {
  EXPECT_TRUE(die(noon).empty());
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(die(noon + 1h).empty());
  }
  EXPECT_EQ(die(noon + 1h).size(), 1u);
}

TEST_F(Alerts, DeadLettersOfDifferentWebhooksDoNotAddUp) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(die(noon).empty());
    EXPECT_TRUE(die(noon, other).empty());
  }
}

TEST_F(Alerts, TheDeadLetterAlertIsOverWhenTheHourHasPassedAndMayComeAgain) {
  for (int i = 0; i < 11; ++i) {
    (void)die(noon);
  }
  EXPECT_TRUE(rules_.calmed(noon + 1h - 1ms).empty());
  EXPECT_EQ(rules_.calmed(noon + 1h), (std::vector<AlertChange>{over(AlertKind::dead_letters)}));
  EXPECT_TRUE(rules_.calmed(noon + 1h).empty());
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(die(noon + 2h).empty());
  }
  EXPECT_EQ(die(noon + 2h).size(), 1u);
}

TEST_F(Alerts, NamesThatDoNotResolveAreToldAtTheThirdFailure) {
  EXPECT_TRUE(attempt(true, noon).empty());
  EXPECT_TRUE(attempt(true, noon).empty());
  const std::vector<AlertChange> raised = attempt(true, noon);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].subject, (AlertSubject{AlertKind::dns_failing, webhook}));
  EXPECT_TRUE(attempt(true, noon).empty());
}

TEST_F(Alerts, FourOfFiveFailuresAreEightyPercentAndNotMore) {
  EXPECT_TRUE(attempt(false, noon).empty());
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(attempt(true, noon).empty());
  }
  EXPECT_EQ(attempt(true, noon).size(), 1u);  // Five of six.
}

TEST_F(Alerts, ANameThatResolvesAgainEndsTheAlertOnceItsShareHasFallen) {
  for (int i = 0; i < 4; ++i) {
    (void)attempt(true, noon);
  }
  EXPECT_EQ(attempt(false, noon), (std::vector<AlertChange>{over(AlertKind::dns_failing)}));
}

TEST_F(Alerts, FailuresOfMoreThanTenMinutesAgoAreForgotten) {
  for (int i = 0; i < 3; ++i) {
    (void)attempt(true, noon);
  }
  EXPECT_TRUE(rules_.calmed(noon + 10min - 1ms).empty());
  EXPECT_EQ(rules_.calmed(noon + 10min), (std::vector<AlertChange>{over(AlertKind::dns_failing)}));
}

TEST_F(Alerts, WhatWasActiveBeforeARestartIsOverWhenNothingKeepsItUp) {
  rules_.restore({AlertKind::dead_letters, webhook});
  rules_.restore({AlertKind::dns_failing, other});
  rules_.restore({AlertKind::store_failing, std::nullopt});
  EXPECT_EQ(rules_.calmed(noon), (std::vector<AlertChange>{over(AlertKind::dead_letters),
                                                           over(AlertKind::dns_failing, other)}));
}

TEST_F(Alerts, ARemovedWebhookHasNothingToTell) {
  for (int i = 0; i < 11; ++i) {
    (void)die(noon);
  }
  rules_.forget(webhook);
  EXPECT_TRUE(rules_.calmed(noon + 2h).empty());
}

}  // namespace
}  // namespace postrider
