#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/policy/retry.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

const WallTime noon = *parse_rfc3339("2026-01-31T12:00:00Z");
const RetryPolicy plain{
    .delay_base = 1s, .delay_max = 90s, .schedule = {}, .jitter = {}, .attempts_max = 5};

/// Spares the casts.
std::vector<std::uint16_t> statuses(std::initializer_list<std::uint16_t> list) { return list; }

Outcome answered(std::uint16_t status, std::optional<Millis> retry_after = std::nullopt) {
  Outcome outcome;
  outcome.http_status = status;
  outcome.retry_after = retry_after;
  return outcome;
}

Outcome failed(FailureCategory failure) {
  Outcome outcome;
  outcome.failure = failure;
  return outcome;
}

Verdict judge_status(std::uint16_t status, std::uint32_t budget_used = 1) {
  return judge(plain, answered(status), {.budget_used = budget_used, .now = noon});
}

Verdict judge_failure(FailureCategory failure, std::uint32_t budget_used = 1) {
  return judge(plain, failed(failure), {.budget_used = budget_used, .now = noon});
}

Verdict dead(Classification classification, std::string reason) {
  return GiveUp{.why = {.classification = classification, .reason = std::move(reason)}};
}

TEST(Judge, OnlyA2xxIsASuccess) {
  for (const std::uint16_t status : statuses({200, 201, 202, 204, 299})) {
    EXPECT_EQ(judge_status(status), Verdict{Succeeded{}}) << status;
    EXPECT_EQ(judge_status(status, 4'000'000'000u), Verdict{Succeeded{}}) << "past its budget";
  }
  for (const std::uint16_t status :
       statuses({100, 101, 199, 300, 301, 302, 307, 308, 409, 425, 500, 503, 600})) {
    EXPECT_EQ(judge_status(status), Verdict{RetryAt{noon + 1s}}) << status;
  }
}

TEST(Judge, PermanentStatusesGoStraightToTheDeadLetters) {
  for (const std::uint16_t status : statuses({400, 401, 403, 404, 413, 414, 415, 451})) {
    EXPECT_EQ(judge_status(status),
              dead(Classification::permanent, "permanent_client_error_" + std::to_string(status)));
  }
  EXPECT_EQ(judge_status(404, 5), dead(Classification::permanent, "permanent_client_error_404"))
      << "on the last attempt, too";
}

TEST(Judge, GoneAlsoDisablesTheWebhook) {
  const Verdict want = GiveUp{
      .why = {.classification = Classification::permanent, .reason = "permanent_client_error_410"},
      .disable_webhook = true};
  EXPECT_EQ(judge_status(410), want);
}

TEST(Judge, TheListOfPermanentStatusesIsTheOwners) {
  RetryPolicy policy = plain;
  policy.permanent_statuses = {200, 302, 418, 501};
  const auto verdict = [&](std::uint16_t status) {
    return judge(policy, answered(status), {.now = noon});
  };
  EXPECT_EQ(verdict(418), dead(Classification::permanent, "permanent_client_error_418"));
  EXPECT_EQ(verdict(501), dead(Classification::permanent, "permanent_server_error_501"));
  EXPECT_EQ(verdict(302), dead(Classification::permanent, "permanent_status_302"));
  EXPECT_EQ(verdict(404), Verdict{RetryAt{noon + 1s}});
  EXPECT_EQ(verdict(410), Verdict{RetryAt{noon + 1s}}) << "nor does it disable then";
  EXPECT_EQ(verdict(200), Verdict{Succeeded{}}) << "no list makes a success a failure";
}

TEST(Judge, EverythingElseIsRetriedUntilTheBudgetIsSpent) {
  using enum FailureCategory;
  for (const FailureCategory failure :
       {timeout, server_error, client_error, network, dns, rate_limit, payload_too_large, redirect,
        blocked_address, protocol}) {
    EXPECT_TRUE(std::holds_alternative<RetryAt>(judge_failure(failure, 4))) << to_string(failure);
    const Verdict exceeded = dead(Classification::recoverable, "max_attempts_exceeded");
    EXPECT_EQ(judge_failure(failure, 5), exceeded) << to_string(failure);
    EXPECT_EQ(judge_failure(failure, UINT32_MAX), exceeded) << to_string(failure);
  }
}

TEST(Judge, AStatusWithoutACompleteResponseIsNotBelieved) {
  Outcome outcome = failed(FailureCategory::network);
  for (const std::uint16_t status : statuses({200, 404, 410})) {
    outcome.http_status = status;
    EXPECT_EQ(judge(plain, outcome, {.now = noon}), Verdict{RetryAt{noon + 1s}}) << status;
  }
}

TEST(Judge, TlsErrorsGetThreeAttempts) {
  EXPECT_EQ(judge_failure(FailureCategory::ssl, 1), Verdict{RetryAt{noon + 1s}});
  EXPECT_EQ(judge_failure(FailureCategory::ssl, 2), Verdict{RetryAt{noon + 2s}});
  const Verdict limit = dead(Classification::recoverable, "ssl_error_retry_limit");
  EXPECT_EQ(judge_failure(FailureCategory::ssl, 3), limit);
  EXPECT_EQ(judge_failure(FailureCategory::ssl, 5), limit);

  RetryPolicy two = plain;
  two.attempts_max = 2;
  EXPECT_EQ(judge(two, failed(FailureCategory::ssl), {.budget_used = 2, .now = noon}),
            dead(Classification::recoverable, "max_attempts_exceeded"));
}

TEST(Judge, SomeFailuresWaitALeastTime) {
  EXPECT_EQ(judge_status(429), Verdict{RetryAt{noon + 60s}});
  EXPECT_EQ(judge_failure(FailureCategory::rate_limit), Verdict{RetryAt{noon + 60s}});
  EXPECT_EQ(judge_failure(FailureCategory::dns), Verdict{RetryAt{noon + 5s}});
  EXPECT_EQ(judge_failure(FailureCategory::dns, 4), Verdict{RetryAt{noon + 8s}}) << "not at most";
  EXPECT_EQ(judge_failure(FailureCategory::timeout), Verdict{RetryAt{noon + 2s}});
  EXPECT_EQ(judge_status(408), Verdict{RetryAt{noon + 2s}});
  EXPECT_EQ(judge_failure(FailureCategory::network), Verdict{RetryAt{noon + 1s}});
}

TEST(Judge, APolicyMayDoWithoutTheLeastTimes) {
  RetryPolicy exact = plain;
  exact.category_minimums = false;
  EXPECT_EQ(judge(exact, answered(429), {.now = noon}), Verdict{RetryAt{noon + 1s}});
  EXPECT_EQ(judge(exact, failed(FailureCategory::dns), {.now = noon}), Verdict{RetryAt{noon + 1s}});
  EXPECT_EQ(judge(exact, failed(FailureCategory::timeout), {.now = noon}),
            Verdict{RetryAt{noon + 1s}});
}

TEST(Judge, TheLeastTimeComesAfterTheJitterAndAboveTheCap) {
  const RetryPolicy quick = retry_policy(RetryPreset::quick);  // Capped at 32 s.
  EXPECT_EQ(judge(quick, answered(429), {.now = noon, .draw = 0.5}), Verdict{RetryAt{noon + 60s}});
  const RetryPolicy spread{.delay_base = 2s, .schedule = {}, .jitter = {.minus = 0.9}};
  EXPECT_EQ(judge(spread, failed(FailureCategory::timeout), {.now = noon}),
            Verdict{RetryAt{noon + 2s}});
}

TEST(Judge, RetryAfterLengthensNeverShortensAndIsCapped) {
  const auto verdict = [](std::uint16_t status, std::optional<Millis> asked) {
    return judge(plain, answered(status, asked), {.now = noon});
  };
  EXPECT_EQ(verdict(503, std::nullopt), Verdict{RetryAt{noon + 1s}});
  EXPECT_EQ(verdict(503, 0s), Verdict{RetryAt{noon + 1s}});
  EXPECT_EQ(verdict(503, 10s), Verdict{RetryAt{noon + 10s}});
  EXPECT_EQ(verdict(503, 90s), Verdict{RetryAt{noon + 90s}});
  EXPECT_EQ(verdict(503, 91s), Verdict{RetryAt{noon + 90s}});
  EXPECT_EQ(verdict(503, Millis::max()), Verdict{RetryAt{noon + 90s}});
  EXPECT_EQ(verdict(503, Millis::min()), Verdict{RetryAt{noon + 1s}});
  EXPECT_EQ(verdict(429, 10s), Verdict{RetryAt{noon + 60s}});
  EXPECT_EQ(verdict(429, 75s), Verdict{RetryAt{noon + 75s}});
}

TEST(Judge, ADueTimeNeverOverflows) {
  RetryPolicy policy = plain;
  policy.delay_base = Millis::max();
  policy.delay_max = Millis::max();
  EXPECT_EQ(judge(policy, answered(500), {.now = noon}), Verdict{RetryAt{wall_time_max}});
  EXPECT_EQ(judge(policy, answered(500), {.now = WallTime::max()}),
            Verdict{RetryAt{wall_time_max}});
}

RC_GTEST_PROP(Judge, ARetryIsNeverInThePastAndNeverPastTheBudget, ()) {
  const auto preset = static_cast<RetryPreset>(*rc::gen::inRange(0, 7));
  const RetryPolicy policy = retry_policy(preset);
  Outcome outcome;
  if (*rc::gen::arbitrary<bool>()) {
    outcome.http_status = *rc::gen::inRange<std::uint16_t>(100, 600);
  } else {
    outcome.failure = static_cast<FailureCategory>(*rc::gen::inRange(0, 11));
  }
  outcome.retry_after = Millis{*rc::gen::arbitrary<std::int64_t>()};
  const AttemptContext context{.budget_used = *rc::gen::inRange<std::uint32_t>(1, 20),
                               .now = noon,
                               .draw = *rc::gen::inRange(0, 1'000'000) / 1e6};

  const Verdict verdict = judge(policy, outcome, context);
  RC_ASSERT(std::holds_alternative<Succeeded>(verdict) == !categorize(outcome).has_value());
  if (const RetryAt* retry = std::get_if<RetryAt>(&verdict)) {
    RC_ASSERT(context.budget_used < policy.attempts_max);
    RC_ASSERT(retry->due >= noon + backoff_delay(policy, context.budget_used, context.draw));
    RC_ASSERT(retry->due <= noon + policy.delay_max + policy.delay_max / 10 + 61s);
  }
}

}  // namespace
}  // namespace postrider
