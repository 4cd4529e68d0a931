#include <initializer_list>
#include <utility>
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

/// Avoids casts in the loops below.
std::vector<std::uint16_t> statuses(std::initializer_list<std::uint16_t> list) { return list; }

Outcome responded(std::uint16_t status, std::optional<Millis> retry_after = std::nullopt) {
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

RetryDecision decide_on_status(std::uint16_t status, std::uint32_t budget_used = 1) {
  return decide_retry(plain, responded(status), {.budget_used = budget_used, .now = noon});
}

RetryDecision decide_on_failure(FailureCategory failure, std::uint32_t budget_used = 1) {
  return decide_retry(plain, failed(failure), {.budget_used = budget_used, .now = noon});
}

RetryDecision dead(Classification classification, std::string reason) {
  return GiveUp{.why = {.classification = classification, .reason = std::move(reason)}};
}

TEST(DecideRetry, SucceedsOnlyWithA2xx) {
  for (const std::uint16_t status : statuses({200, 201, 202, 204, 299})) {
    EXPECT_EQ(decide_on_status(status), RetryDecision{Succeeded{}}) << status;
    EXPECT_EQ(decide_on_status(status, 4'000'000'000u), RetryDecision{Succeeded{}})
        << "past its budget";
  }
  for (const std::uint16_t status :
       statuses({100, 101, 199, 300, 301, 302, 307, 308, 409, 425, 500, 503, 600})) {
    EXPECT_EQ(decide_on_status(status), RetryDecision{RetryAt{noon + 1s}}) << status;
  }
}

TEST(DecideRetry, GivesUpImmediatelyOnAPermanentStatus) {
  for (const std::uint16_t status : statuses({400, 401, 403, 404, 413, 414, 415, 451})) {
    EXPECT_EQ(decide_on_status(status),
              dead(Classification::permanent, "permanent_client_error_" + std::to_string(status)));
  }
  EXPECT_EQ(decide_on_status(404, 5), dead(Classification::permanent, "permanent_client_error_404"))
      << "also on the last attempt";
}

TEST(DecideRetry, DisablesTheWebhookOn410) {
  const RetryDecision want = GiveUp{
      .why = {.classification = Classification::permanent, .reason = "permanent_client_error_410"},
      .disable_webhook = true};
  EXPECT_EQ(decide_on_status(410), want);
}

TEST(DecideRetry, UsesThePolicysPermanentStatuses) {
  RetryPolicy policy = plain;
  policy.permanent_statuses = {200, 302, 418, 501};
  const auto decision = [&](std::uint16_t status) {
    return decide_retry(policy, responded(status), {.now = noon});
  };
  EXPECT_EQ(decision(418), dead(Classification::permanent, "permanent_client_error_418"));
  EXPECT_EQ(decision(501), dead(Classification::permanent, "permanent_server_error_501"));
  EXPECT_EQ(decision(302), dead(Classification::permanent, "permanent_status_302"));
  EXPECT_EQ(decision(404), RetryDecision{RetryAt{noon + 1s}});
  EXPECT_EQ(decision(410), RetryDecision{RetryAt{noon + 1s}}) << "and does not disable the webhook";
  EXPECT_EQ(decision(200), RetryDecision{Succeeded{}}) << "a success is never a failure";
}

TEST(DecideRetry, RetriesEverythingElseUntilTheBudgetIsSpent) {
  using enum FailureCategory;
  for (const FailureCategory failure :
       {timeout, server_error, client_error, network, dns, rate_limit, payload_too_large, redirect,
        blocked_address, protocol}) {
    EXPECT_TRUE(std::holds_alternative<RetryAt>(decide_on_failure(failure, 4)))
        << to_string(failure);
    const RetryDecision exceeded = dead(Classification::recoverable, "max_attempts_exceeded");
    EXPECT_EQ(decide_on_failure(failure, 5), exceeded) << to_string(failure);
    EXPECT_EQ(decide_on_failure(failure, UINT32_MAX), exceeded) << to_string(failure);
  }
}

TEST(DecideRetry, IgnoresTheStatusOfAnIncompleteResponse) {
  Outcome outcome = failed(FailureCategory::network);
  for (const std::uint16_t status : statuses({200, 404, 410})) {
    outcome.http_status = status;
    EXPECT_EQ(decide_retry(plain, outcome, {.now = noon}), RetryDecision{RetryAt{noon + 1s}})
        << status;
  }
}

TEST(DecideRetry, RetriesTlsErrorsTwice) {
  EXPECT_EQ(decide_on_failure(FailureCategory::ssl, 1), RetryDecision{RetryAt{noon + 1s}});
  EXPECT_EQ(decide_on_failure(FailureCategory::ssl, 2), RetryDecision{RetryAt{noon + 2s}});
  const RetryDecision limit = dead(Classification::recoverable, "ssl_error_retry_limit");
  EXPECT_EQ(decide_on_failure(FailureCategory::ssl, 3), limit);
  EXPECT_EQ(decide_on_failure(FailureCategory::ssl, 5), limit);

  RetryPolicy two = plain;
  two.attempts_max = 2;
  EXPECT_EQ(decide_retry(two, failed(FailureCategory::ssl), {.budget_used = 2, .now = noon}),
            dead(Classification::recoverable, "max_attempts_exceeded"));
}

TEST(DecideRetry, AppliesCategoryMinimums) {
  EXPECT_EQ(decide_on_status(429), RetryDecision{RetryAt{noon + 60s}});
  EXPECT_EQ(decide_on_failure(FailureCategory::rate_limit), RetryDecision{RetryAt{noon + 60s}});
  EXPECT_EQ(decide_on_failure(FailureCategory::dns), RetryDecision{RetryAt{noon + 5s}});
  EXPECT_EQ(decide_on_failure(FailureCategory::dns, 4), RetryDecision{RetryAt{noon + 8s}})
      << "a minimum, not a maximum";
  EXPECT_EQ(decide_on_failure(FailureCategory::timeout), RetryDecision{RetryAt{noon + 2s}});
  EXPECT_EQ(decide_on_status(408), RetryDecision{RetryAt{noon + 2s}});
  EXPECT_EQ(decide_on_failure(FailureCategory::network), RetryDecision{RetryAt{noon + 1s}});
}

TEST(DecideRetry, SkipsCategoryMinimumsIfThePolicySaysSo) {
  RetryPolicy exact = plain;
  exact.category_minimums = false;
  EXPECT_EQ(decide_retry(exact, responded(429), {.now = noon}), RetryDecision{RetryAt{noon + 1s}});
  EXPECT_EQ(decide_retry(exact, failed(FailureCategory::dns), {.now = noon}),
            RetryDecision{RetryAt{noon + 1s}});
  EXPECT_EQ(decide_retry(exact, failed(FailureCategory::timeout), {.now = noon}),
            RetryDecision{RetryAt{noon + 1s}});
}

TEST(DecideRetry, TlsLimitFollowsThePolicy) {
  const auto decision = [](std::uint32_t ssl_max, std::uint32_t budget_used) {
    RetryPolicy policy = plain;
    policy.ssl_attempts_max = ssl_max;
    return decide_retry(policy, failed(FailureCategory::ssl),
                        {.budget_used = budget_used, .now = noon});
  };
  const RetryDecision limit = dead(Classification::recoverable, "ssl_error_retry_limit");
  const RetryDecision exceeded = dead(Classification::recoverable, "max_attempts_exceeded");
  EXPECT_EQ(decision(1, 1), limit);
  EXPECT_EQ(decision(4, 3), RetryDecision{RetryAt{noon + 4s}});
  EXPECT_EQ(decision(4, 4), limit);
  EXPECT_EQ(decision(5, 4), RetryDecision{RetryAt{noon + 8s}});
  EXPECT_EQ(decision(5, 5), exceeded) << "the same limit as for every other failure";
  EXPECT_EQ(decision(100, 5), exceeded);
}

TEST(DecideRetry, IgnoresRetryAfterIfThePolicySaysSo) {
  RetryPolicy policy = plain;
  policy.honor_retry_after = false;
  EXPECT_EQ(decide_retry(policy, responded(503, 10s), {.now = noon}),
            RetryDecision{RetryAt{noon + 1s}});
  EXPECT_EQ(decide_retry(policy, responded(429, 75s), {.now = noon}),
            RetryDecision{RetryAt{noon + 60s}});
}

/// The shortest and the longest delay.
std::pair<Millis, Millis> range_of(const RetryPolicy& policy, const Outcome& outcome) {
  const auto delay = [&](double draw) {
    return std::get<RetryAt>(decide_retry(policy, outcome, {.now = noon, .draw = draw})).due - noon;
  };
  return {delay(0.0), delay(0x1.fffffffffffffp-1)};
}

TEST(DecideRetry, SpreadsDelaysAboveAMinimumUpwards) {
  using Range = std::pair<Millis, Millis>;
  const RetryPolicy patient;
  EXPECT_EQ(range_of(patient, responded(429)), (Range{60s, 66s}));
  EXPECT_EQ(range_of(patient, responded(503, 100s)), (Range{100s, 110s}));
  EXPECT_EQ(range_of(patient, responded(503, 29s)), (Range{29s, 33s})) << "within the jitter";
  EXPECT_EQ(range_of(patient, responded(503, 24h)), (Range{24h, 24h}));
  EXPECT_EQ(range_of(patient, responded(503, 48h)), (Range{24h, 24h}));
  RetryPolicy policy = plain;
  policy.jitter = {.minus = 0.2};
  EXPECT_EQ(range_of(policy, responded(429)), (Range{60s, 72s}));
  policy.jitter = {.minus = 0.5, .plus = 1.0};
  EXPECT_EQ(range_of(policy, responded(429)), (Range{60s, 90s})) << "not above the longest delay";
  policy.delay_max = 60s;
  EXPECT_EQ(range_of(policy, responded(429)), (Range{60s, 60s}));
  policy.delay_max = 5s;  // The minimum is longer than any delay.
  EXPECT_EQ(range_of(policy, responded(429)), (Range{60s, 120s}));
  policy.jitter = {};
  EXPECT_EQ(range_of(policy, responded(429)), (Range{60s, 60s}));
}

RC_GTEST_PROP(DecideRetry, JitterKeepsMinimumsAndTheLongestDelay, ()) {
  const RetryPolicy policy{.delay_base = Millis{*rc::gen::inRange<std::int64_t>(1, 100'000)},
                           .delay_max = Millis{*rc::gen::inRange<std::int64_t>(100'000, 1'000'000)},
                           .schedule = {},
                           .jitter = {.minus = *rc::gen::inRange(0, 101) / 100.0,
                                      .plus = *rc::gen::inRange(0, 101) / 100.0,
                                      .extra = Millis{*rc::gen::inRange<std::int64_t>(0, 5'000)}}};
  const Millis asked{*rc::gen::inRange<std::int64_t>(0, 2'000'000)};
  const bool limited = *rc::gen::arbitrary<bool>();
  const AttemptContext context{.budget_used = *rc::gen::inRange<std::uint32_t>(1, 12),
                               .now = noon,
                               .draw = *rc::gen::inRange(0, 1'000'000) / 1e6};
  const RetryDecision decision =
      decide_retry(policy, responded(limited ? 429 : 503, asked), context);
  const Millis delay = std::get<RetryAt>(decision).due - noon;
  RC_ASSERT(delay <= policy.delay_max);
  RC_ASSERT(delay >= std::min(asked, policy.delay_max));
  RC_ASSERT(delay >= (limited ? 60s : 0s));
}

TEST(DecideRetry, AppliesMinimumsAfterJitterAndCap) {
  const RetryPolicy quick = retry_policy(RetryPreset::quick);  // Capped at 32 s.
  EXPECT_EQ(decide_retry(quick, responded(429), {.now = noon, .draw = 0.5}),
            RetryDecision{RetryAt{noon + 60s + 500ms}});
  const RetryPolicy spread{.delay_base = 2s, .schedule = {}, .jitter = {.minus = 0.9}};
  EXPECT_EQ(decide_retry(spread, failed(FailureCategory::timeout), {.now = noon}),
            RetryDecision{RetryAt{noon + 2s}});
}

TEST(DecideRetry, RetryAfterOnlyLengthensTheDelayAndIsCapped) {
  const auto decision = [](std::uint16_t status, std::optional<Millis> asked) {
    return decide_retry(plain, responded(status, asked), {.now = noon});
  };
  EXPECT_EQ(decision(503, std::nullopt), RetryDecision{RetryAt{noon + 1s}});
  EXPECT_EQ(decision(503, 0s), RetryDecision{RetryAt{noon + 1s}});
  EXPECT_EQ(decision(503, 10s), RetryDecision{RetryAt{noon + 10s}});
  EXPECT_EQ(decision(503, 90s), RetryDecision{RetryAt{noon + 90s}});
  EXPECT_EQ(decision(503, 91s), RetryDecision{RetryAt{noon + 90s}});
  EXPECT_EQ(decision(503, Millis::max()), RetryDecision{RetryAt{noon + 90s}});
  EXPECT_EQ(decision(503, Millis::min()), RetryDecision{RetryAt{noon + 1s}});
  EXPECT_EQ(decision(429, 10s), RetryDecision{RetryAt{noon + 60s}});
  EXPECT_EQ(decision(429, 75s), RetryDecision{RetryAt{noon + 75s}});
}

TEST(DecideRetry, DueTimeDoesNotOverflow) {
  RetryPolicy policy = plain;
  policy.delay_base = Millis::max();
  policy.delay_max = Millis::max();
  EXPECT_EQ(decide_retry(policy, responded(500), {.now = noon}),
            RetryDecision{RetryAt{wall_time_max}});
  EXPECT_EQ(decide_retry(policy, responded(500), {.now = WallTime::max()}),
            RetryDecision{RetryAt{wall_time_max}});
}

RC_GTEST_PROP(DecideRetry, NeverRetriesInThePastOrBeyondTheBudget, ()) {
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

  const RetryDecision decision = decide_retry(policy, outcome, context);
  RC_ASSERT(std::holds_alternative<Succeeded>(decision) == !categorize(outcome).has_value());
  if (const RetryAt* retry = std::get_if<RetryAt>(&decision)) {
    RC_ASSERT(context.budget_used < policy.attempts_max);
    RC_ASSERT(retry->due >= noon + backoff_delay(policy, context.budget_used, context.draw));
    RC_ASSERT(retry->due <= noon + policy.delay_max + policy.delay_max / 10 + 61s);
  }
}

}  // namespace
}  // namespace postrider
