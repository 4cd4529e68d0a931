#include "api/json/policy_json.h"

#include <span>

#include <gtest/gtest.h>

namespace postrider::api {
namespace {

/// The policy after merging an object into it, and the fields that were refused.
template <class Policy>
struct Merged {
  Policy policy;
  std::vector<std::string> refused;
};

template <class Policy, class Read>
Merged<Policy> merge(const std::string& members, Policy policy, Read read) {
  const std::string text = "{" + members + "}";
  Result<std::vector<JsonMember>> parsed = read_json_object(text);
  EXPECT_TRUE(parsed) << text;
  FieldErrors errors;
  ObjectReader reader{*parsed, "at", errors};
  read(reader, policy);
  Merged<Policy> merged{std::move(policy), {}};
  for (const FieldError& error : errors.all()) {
    merged.refused.push_back(error.field);
  }
  return merged;
}

const WallTime now = *parse_rfc3339("2026-01-31T12:00:00Z");

Merged<RetryPolicy> retry(const std::string& members, const RetryPolicy& policy = {}) {
  return merge(members, policy, [](ObjectReader& reader, RetryPolicy& changed) {
    read_retry(reader, RetryPolicy{}, changed);
  });
}

Merged<BreakerPolicy> breaker(const std::string& members, const BreakerPolicy& policy = {}) {
  return merge(members, policy, [](ObjectReader& reader, BreakerPolicy& changed) {
    read_breaker(reader, BreakerPolicy{}, now, changed);
  });
}

Merged<std::optional<RateLimit>> rate(const std::string& members,
                                      std::optional<RateLimit> limit = std::nullopt) {
  return merge(members, limit, read_rate_limit);
}

Merged<SignaturePolicy> signature(const std::string& members) {
  return merge(members, SignaturePolicy{}, [](ObjectReader& reader, SignaturePolicy& changed) {
    read_signature(reader, SignaturePolicy{}, changed);
  });
}

struct Case {
  const char* members;
  const char* refused;
};

template <class Merge>
void check_each(std::span<const Case> cases, Merge merge_one) {
  for (const Case& c : cases) {
    EXPECT_EQ(merge_one(c.members).refused, std::vector{std::string{"at."} + c.refused})
        << c.members;
  }
}

TEST(ReadRetry, NamesTheInvalidField) {
  const Case cases[] = {
      {R"("preset":"eager")", "preset"},
      {R"("max_attempts":0)", "max_attempts"},
      {R"("max_attempts":101)", "max_attempts"},
      {R"("max_attempts":"many")", "max_attempts"},
      {R"("max_attempts_auto":1)", "max_attempts_auto"},
      {R"("max_attempts":"auto","max_attempts_auto":false)", "max_attempts_auto"},
      {R"("base_delay_ms":0)", "base_delay_ms"},
      {R"("base_delay_ms":-1)", "base_delay_ms"},
      {R"("base_delay_ms":1e400)", "base_delay_ms"},
      {R"("base_delay_ms":604800001,"max_delay_ms":604800000)", "base_delay_ms"},
      {R"("max_delay_ms":604800001)", "max_delay_ms"},
      {R"("max_delay_ms":29999)", "max_delay_ms"},
      {R"("backoff_multiplier":0.9)", "backoff_multiplier"},
      {R"("backoff_multiplier":101)", "backoff_multiplier"},
      {R"("schedule_ms":5)", "schedule_ms"},
      {R"("schedule_ms":[1,0])", "schedule_ms[1]"},
      {R"("jitter":1.1)", "jitter"},
      {R"("jitter":-0.1)", "jitter"},
      {R"("jitter":"some")", "jitter"},
      {R"("jitter":{"minus":2})", "jitter.minus"},
      {R"("jitter":{"plus":-1})", "jitter.plus"},
      {R"("jitter":{"extra_ms":3600001})", "jitter.extra_ms"},
      {R"("jitter":{"around":1})", "jitter.around"},
      {R"("timeout_ms":9)", "timeout_ms"},
      {R"("timeout_growth_factor":0.5)", "timeout_growth_factor"},
      {R"("timeout_growth_factor":3.5)", "timeout_growth_factor"},
      {R"("category_minimums":1)", "category_minimums"},
      {R"("honor_retry_after":"no")", "honor_retry_after"},
      {R"("ssl_max_attempts":0)", "ssl_max_attempts"},
      {R"("ssl_max_attempts":101)", "ssl_max_attempts"},
      {R"("permanent_statuses":[200])", "permanent_statuses[0]"},
      {R"("permanent_statuses":[404,"410"])", "permanent_statuses[1]"},
      {R"("backoff":2)", "backoff"},
  };
  check_each(cases, [](const char* members) { return retry(members); });
}

TEST(ReadRetry, AnAutomaticNumberOfAttemptsFollowsTheDelays) {
  const RetryPolicy automatic = retry(R"("max_attempts":"auto")").policy;
  EXPECT_EQ(automatic.attempts_max, 13u);
  const RetryPolicy shorter =
      retry(R"("base_delay_ms":1000,"max_delay_ms":8000)", automatic).policy;
  EXPECT_EQ(shorter.attempts_max, 4u);
  const RetryPolicy stepped = retry(R"("schedule_ms":[1000,2000])", shorter).policy;
  EXPECT_EQ(stepped.attempts_max, 3u);

  std::string json;
  JsonWriter writer{json};
  write_retry(writer, automatic);
  const std::string members = json.substr(1, json.size() - 2);
  EXPECT_EQ(retry(members, RetryPolicy{}).policy, automatic) << "a response sent back";

  const RetryPolicy fixed = retry(R"("max_attempts":6)", automatic).policy;
  EXPECT_EQ(retry(R"("base_delay_ms":1000)", fixed).policy.attempts_max, 6u);
  const RetryPolicy kept = retry(R"("max_attempts_auto":false)", automatic).policy;
  EXPECT_EQ(retry(R"("base_delay_ms":1000)", kept).policy.attempts_max, 13u);
  EXPECT_FALSE(retry(R"("max_attempts":null)", automatic).policy.attempts_auto);
  EXPECT_FALSE(retry(R"("preset":"quick")", automatic).policy.attempts_auto);
}

TEST(ReadBreaker, NamesTheInvalidField) {
  const Case cases[] = {
      {R"("preset":"brave")", "preset"},
      {R"("enabled":1)", "enabled"},
      {R"("window":"moon")", "window"},
      {R"("window_size_ms":99)", "window_size_ms"},
      {R"("window_calls":0)", "window_calls"},
      {R"("minimum_throughput":1001)", "minimum_throughput"},
      {R"("window":"count","window_calls":5)", "minimum_throughput"},
      {R"("window":"count","failure_count_threshold":11)", "failure_count_threshold"},
      {R"("error_threshold_percentage":0)", "error_threshold_percentage"},
      {R"("error_threshold_percentage":100.5)", "error_threshold_percentage"},
      {R"("failure_count_threshold":-1)", "failure_count_threshold"},
      {R"("consecutive_failure_threshold":-1)", "consecutive_failure_threshold"},
      {R"("consecutive_failure_threshold":1001)", "consecutive_failure_threshold"},
      {R"("sleep_window_ms":9)", "sleep_window_ms"},
      {R"("sleep_window_ms":1800001,"sleep_max_ms":1800000)", "sleep_max_ms"},
      {R"("sleep_max_ms":29999)", "sleep_max_ms"},
      {R"("sleep_multiplier":0)", "sleep_multiplier"},
      {R"("sleep_max_ms":true)", "sleep_max_ms"},
      {R"("half_open_max_calls":0)", "half_open_max_calls"},
      {R"("half_open_success_percentage":0)", "half_open_success_percentage"},
      {R"("force_open_until":"2026-01-31T12:00:00Z")", "force_open_until"},
      {R"("force_open_until":"soon")", "force_open_until"},
      {R"("force_open_until":1)", "force_open_until"},
      {R"("threshold":1)", "threshold"},
  };
  check_each(cases, [](const char* members) { return breaker(members); });
}

TEST(ReadRateLimit, NamesTheInvalidField) {
  const Case cases[] = {
      {"", "requests_per_second"},
      {R"("burst":5)", "requests_per_second"},
      {R"("requests_per_second":0)", "requests_per_second"},
      {R"("requests_per_second":100001)", "requests_per_second"},
      {R"("requests_per_second":1,"requests_per_minute":60)", "requests_per_minute"},
      {R"("requests_per_minute":6000001)", "requests_per_minute"},
      {R"("requests_per_second":1,"burst":0)", "burst"},
      {R"("requests_per_second":1,"per":1)", "per"},
  };
  check_each(cases, [](const char* members) { return rate(members); });
}

TEST(ReadSignature, NamesTheInvalidField) {
  const Case cases[] = {
      {R"("scheme":"md5")", "scheme"},
      {R"("header_prefix":"X Y-")", "header_prefix"},
      {R"("header_prefix":"webhook-")", "header_prefix"},
      {R"("header_prefix":"Proxy-")", "header_prefix"},
      {R"("header_prefix":5)", "header_prefix"},
      {R"("header_prefix":"")", "header_prefix"},
      {R"("standard_headers":false)", "standard_headers"},
      {R"("scheme":"standard-ed25519","standard_headers":false)", "standard_headers"},
      {R"("standard_headers":"no")", "standard_headers"},
      {R"("prefixed_headers":0)", "prefixed_headers"},
      {R"("header_set":"mine")", "header_set"},
      {R"("key":"x")", "key"},
  };
  check_each(cases, [](const char* members) { return signature(members); });
}

TEST(ReadRetry, OtherFieldsOverrideAPreset) {
  RetryPolicy before;
  before.attempts_max = 99;
  RetryPolicy want = retry_policy(RetryPreset::steep);
  want.timeout = Millis{500};
  EXPECT_EQ(retry(R"("preset":"steep","timeout_ms":500)", before).policy, want);
  EXPECT_EQ(retry(R"("preset":null)", before).policy, before);
}

TEST(ReadBreaker, OtherFieldsOverrideAPreset) {
  BreakerPolicy want = breaker_policy(BreakerPreset::patient);
  want.half_open_max_calls = 1;
  EXPECT_EQ(breaker(R"("preset":"patient","half_open_max_calls":1)").policy, want);
}

TEST(ReadBreaker, ALongerSleepRaisesTheLongest) {
  EXPECT_EQ(breaker(R"("sleep_window_ms":1800001)").policy.sleep_max, Millis{1'800'001});
  EXPECT_EQ(breaker(R"("sleep_window_ms":1800001,"sleep_max_ms":null)").policy.sleep_max,
            Millis{1'800'001});
  EXPECT_EQ(breaker(R"("sleep_window_ms":60000)").policy.sleep_max, Millis{1'800'000});
}

TEST(ReadBreaker, ForceOpenUntilIsInTheFutureOrUnchanged) {
  const WallTime later = now + Millis{1};
  EXPECT_EQ(breaker(R"("force_open_until":"2026-01-31T12:00:00.001Z")").policy.force_open_until,
            later);
  const BreakerPolicy forced{.force_open_until = later};
  EXPECT_EQ(breaker(R"("force_open_until":null)", forced).policy.force_open_until, std::nullopt);
  EXPECT_EQ(breaker(R"("preset":"patient")", forced).policy.force_open_until, later);
  const BreakerPolicy over{.force_open_until = now - Millis{1}};
  EXPECT_TRUE(breaker(R"("force_open_until":"2026-01-31T11:59:59.999Z")", over).refused.empty());
  std::string json;
  JsonWriter writer{json};
  write_breaker(writer, forced);
  EXPECT_NE(json.find(R"("preset":"standard")"), std::string::npos) << json;
}

TEST(ReadRetry, ReadsTheLimitOfTlsErrorsAndRetryAfter) {
  const RetryPolicy policy = retry(R"("ssl_max_attempts":100,"honor_retry_after":false)").policy;
  EXPECT_EQ(policy.ssl_attempts_max, 100u);
  EXPECT_FALSE(policy.honor_retry_after);
  EXPECT_EQ(retry(R"("ssl_max_attempts":null,"honor_retry_after":null)", policy).policy,
            RetryPolicy{});
}

TEST(ReadRetry, ComputesAutomaticAttemptsFromTheNewDelays) {
  const Merged<RetryPolicy> merged =
      retry(R"("max_attempts":"auto","base_delay_ms":1000,"max_delay_ms":8000)");
  EXPECT_EQ(merged.policy.attempts_max, 4u);
}

TEST(ReadRetry, JitterIsANumberOrAnObject) {
  EXPECT_EQ(retry(R"("jitter":0.25)").policy.jitter,
            (Jitter{.minus = 0.25, .plus = 0.25, .extra = Millis{0}}));
  EXPECT_EQ(retry(R"("jitter":{"minus":0,"plus":0.5,"extra_ms":1000})").policy.jitter,
            (Jitter{.minus = 0, .plus = 0.5, .extra = Millis{1000}}));
}

TEST(ReadRetry, AcceptsTheLimits) {
  const RetryPolicy policy =
      retry(
          R"("max_attempts":100,"base_delay_ms":1,"max_delay_ms":604800000,"backoff_multiplier":1,)"
          R"("schedule_ms":[],"timeout_ms":1e2,"timeout_growth_factor":3.0,)"
          R"("permanent_statuses":[599])")
          .policy;
  EXPECT_EQ(policy.attempts_max, 100u);
  EXPECT_EQ(policy.delay_base, Millis{1});
  EXPECT_EQ(policy.delay_max, Millis{604'800'000});
  EXPECT_EQ(policy.timeout, Millis{100});
  EXPECT_EQ(policy.permanent_statuses, std::vector<std::uint16_t>{599});
}

TEST(ReadSignature, AStandardSchemeTurnsOnItsHeaders) {
  const auto with = [](const std::string& members, const SignaturePolicy& policy) {
    return merge(members, policy, [](ObjectReader& reader, SignaturePolicy& changed) {
      read_signature(reader, SignaturePolicy{}, changed);
    });
  };
  const SignaturePolicy own =
      with(R"("scheme":"t-v1","standard_headers":false)", SignaturePolicy{}).policy;
  EXPECT_FALSE(own.standard_headers);
  const auto standard = with(R"("scheme":"standard")", own);
  EXPECT_EQ(standard.refused, std::vector<std::string>{});
  EXPECT_TRUE(standard.policy.standard_headers);
}

TEST(ReadSignature, LimitsThePrefixTo64Bytes) {
  EXPECT_TRUE(signature(R"("header_prefix":")" + std::string(64, 'X') + "\"").refused.empty());
  EXPECT_FALSE(signature(R"("header_prefix":")" + std::string(65, 'X') + "\"").refused.empty());
}

TEST(ReadRateLimit, TheDefaultBurstIsTheRatePerSecond) {
  EXPECT_EQ(rate(R"("requests_per_minute":100)").policy,
            (RateLimit{.count = 100, .period = Millis{60'000}, .burst = 2}));
  const RateLimit before{.count = 10, .period = Millis{1'000}, .burst = 20};
  EXPECT_EQ(rate(R"("burst":3)", before).policy,
            (RateLimit{.count = 10, .period = Millis{1'000}, .burst = 3}));
  EXPECT_EQ(rate(R"("requests_per_second":7)", before).policy,
            (RateLimit{.count = 7, .period = Millis{1'000}, .burst = 7}));
  EXPECT_EQ(rate("", before).policy, before);
}

}  // namespace
}  // namespace postrider::api
