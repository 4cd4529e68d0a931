#include "engine/alerts/alert_rules.h"

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
  EXPECT_TRUE(rules_.look(noon + 1h - 1ms).empty());
  EXPECT_EQ(rules_.look(noon + 1h), (std::vector<AlertChange>{over(AlertKind::dead_letters)}));
  EXPECT_TRUE(rules_.look(noon + 1h).empty());
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
  EXPECT_TRUE(rules_.look(noon + 10min - 1ms).empty());
  EXPECT_EQ(rules_.look(noon + 10min), (std::vector<AlertChange>{over(AlertKind::dns_failing)}));
}

TEST_F(Alerts, WhatWasActiveBeforeARestartIsOverWhenNothingKeepsItUp) {
  rules_.restore({AlertKind::dead_letters, webhook});
  rules_.restore({AlertKind::dns_failing, other});
  rules_.restore({AlertKind::store_failing, std::nullopt});
  EXPECT_EQ(rules_.look(noon), (std::vector<AlertChange>{over(AlertKind::dead_letters),
                                                         over(AlertKind::dns_failing, other)}));
}

TEST_F(Alerts, ManyDeadLettersOverALongTimeAreForgottenAsTheyAge) {
  for (int minute = 0; minute < 1000; ++minute) {
    EXPECT_TRUE(die(noon + minute * 10min).empty());  // Six an hour.
  }
}

TEST_F(Alerts, ALowerLimitCountsWhatHasHappenedAlready) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(die(noon).empty());
  }
  AlertLimits limits;
  limits.dead_letters_max = 4;
  rules_.change(limits);
  const std::vector<AlertChange> raised = rules_.look(noon);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].detail, "More than 4 deliveries became dead letters within 60 minutes.");
  limits.dead_letters_max = 5;
  rules_.change(limits);
  EXPECT_EQ(rules_.look(noon), (std::vector<AlertChange>{over(AlertKind::dead_letters)}));
}

// ---------------------------------------------------------------- failures

/// One attempt every ten seconds and a look after each, as the server does.
class Failing : public Alerts {
 protected:
  /// `failures` of every ten attempts fail, the first ones. What was raised or resolved, and when.
  struct Told {
    WallTime at;
    AlertChange change;
  };
  std::vector<Told> run(int failures, Millis length) {
    std::vector<Told> told;
    for (const WallTime end = now_ + length; now_ < end; now_ += 10s) {
      EXPECT_TRUE(
          rules_.attempted({.webhook_id = webhook, .failed = count_++ % 10 < failures}, now_)
              .empty());
      for (AlertChange& change : rules_.look(now_)) {
        told.push_back({now_, std::move(change)});
      }
    }
    return told;
  }

  WallTime now_ = noon;
  int count_ = 0;
};

TEST_F(Failing, ATenthIsNotMoreThanTenPercent) { EXPECT_TRUE(run(1, 1h).empty()); }

TEST_F(Failing, TwoTenthsForTenMinutesAreAnAlertUntilFewerFail) {
  const std::vector<Told> raised = run(2, 30min);
  ASSERT_EQ(raised.size(), 1u);
  // Ten attempts are known after 90 seconds; ten minutes later it has been so for long enough.
  EXPECT_EQ(raised[0].at, noon + 90s + 10min);
  EXPECT_EQ(raised[0].change.subject, (AlertSubject{AlertKind::webhook_failing, webhook}));
  EXPECT_EQ(raised[0].change.detail, "More than 10 % of the attempts have failed for 10 minutes.");
  const std::vector<Told> ended = run(0, 30min);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].change, over(AlertKind::webhook_failing));
  EXPECT_LE(ended[0].at, noon + 30min + 5min);
}

TEST_F(Failing, AQuarterOfAnHourWithAGoodMiddleIsNoAlert) {
  EXPECT_TRUE(run(10, 5min).empty());
  EXPECT_TRUE(run(0, 5min).empty());
  EXPECT_TRUE(run(10, 5min).empty());
}

TEST_F(Failing, NineAttemptsSayNothing) {
  for (int hour = 0; hour < 5; ++hour) {
    EXPECT_TRUE(run(10, 90s).empty());  // Nine.
    now_ += 4min;
  }
}

TEST_F(Failing, AnAlertIsOverWhenNothingIsAttemptedAnyMore) {
  ASSERT_EQ(run(10, 20min).size(), 1u);
  const WallTime last = now_ - 10s;
  EXPECT_TRUE(rules_.look(last + 3min).empty());  // Twelve of the last five minutes.
  EXPECT_EQ(rules_.look(last + 4min), (std::vector<AlertChange>{over(AlertKind::webhook_failing)}));
  EXPECT_TRUE(rules_.look(last + 1h).empty());
}

TEST_F(Failing, AnotherWindowCountsAnew) {
  ASSERT_EQ(run(10, 20min).size(), 1u);
  AlertLimits limits;
  limits.share_window = 1min;
  rules_.change(limits);
  EXPECT_EQ(rules_.look(now_), (std::vector<AlertChange>{over(AlertKind::webhook_failing)}));
}

TEST_F(Failing, WithoutAStretchOneLookIsEnough) {
  AlertLimits limits;
  limits.failing_for = 0min;
  rules_.change(limits);
  const std::vector<Told> raised = run(10, 90s + 10s);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].at, noon + 90s);
}

// ---------------------------------------------------------------- circuits

TEST_F(Alerts, ACircuitThatIsOpenForMoreThanAnHourIsAnAlertUntilItCloses) {
  rules_.circuit_is(webhook, CircuitState::open, noon);
  EXPECT_TRUE(rules_.look(noon + 1h).empty());
  const std::vector<AlertChange> raised = rules_.look(noon + 1h + 1ms);
  ASSERT_EQ(raised.size(), 1u);
  EXPECT_EQ(raised[0].subject, (AlertSubject{AlertKind::circuit_stays_open, webhook}));
  EXPECT_EQ(raised[0].detail, "The circuit has not been closed for more than 60 minutes.");
  EXPECT_TRUE(rules_.look(noon + 2h).empty());
  rules_.circuit_is(webhook, CircuitState::closed, noon + 2h);
  EXPECT_EQ(rules_.look(noon + 2h),
            (std::vector<AlertChange>{over(AlertKind::circuit_stays_open)}));
}

TEST_F(Alerts, ProbesThatFailDoNotStartTheHourAnew) {
  for (int minutes = 0; minutes <= 50; minutes += 10) {
    rules_.circuit_is(webhook, CircuitState::open, noon + minutes * 1min);
    rules_.circuit_is(webhook, CircuitState::half_open, noon + minutes * 1min + 5min);
  }
  EXPECT_TRUE(rules_.look(noon + 1h).empty());
  rules_.circuit_is(webhook, CircuitState::open, noon + 1h);
  EXPECT_EQ(rules_.look(noon + 1h + 1ms).size(), 1u);
}

TEST_F(Alerts, ACircuitThatLacksSomethingToTryIsNoAlert) {
  rules_.circuit_is(webhook, CircuitState::open, noon);
  rules_.circuit_is(webhook, CircuitState::half_open, noon + 30s);
  EXPECT_TRUE(rules_.look(noon + 2h).empty());
}

TEST_F(Alerts, AProbeDoesNotEndTheAlert) {
  rules_.circuit_is(webhook, CircuitState::open, noon);
  EXPECT_EQ(rules_.look(noon + 1h + 1ms).size(), 1u);
  rules_.circuit_is(webhook, CircuitState::half_open, noon + 61min);
  EXPECT_TRUE(rules_.look(noon + 62min).empty());
}

TEST_F(Alerts, ACircuitThatClosedInTimeIsNoAlert) {
  rules_.circuit_is(webhook, CircuitState::open, noon);
  rules_.circuit_is(webhook, CircuitState::closed, noon + 59min);
  rules_.circuit_is(webhook, CircuitState::open, noon + 60min);
  EXPECT_TRUE(rules_.look(noon + 2h).empty());
  EXPECT_EQ(rules_.look(noon + 2h + 1ms).size(), 1u);
}

TEST_F(Alerts, ACircuitThatIsStillOpenAfterARestartKeepsItsAlert) {
  rules_.restore({AlertKind::circuit_stays_open, webhook});
  rules_.restore({AlertKind::circuit_stays_open, other});
  rules_.circuit_is(webhook, CircuitState::open, noon - 2h);
  EXPECT_EQ(rules_.look(noon),
            (std::vector<AlertChange>{over(AlertKind::circuit_stays_open, other)}));
}

TEST_F(Alerts, ARemovedWebhookHasNothingToTell) {
  for (int i = 0; i < 11; ++i) {
    (void)die(noon);
  }
  rules_.forget(webhook);
  EXPECT_TRUE(rules_.look(noon + 2h).empty());
}

}  // namespace
}  // namespace postrider
