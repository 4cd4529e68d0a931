#include "runtime/observability/rate_limit_meter.h"

#include <gtest/gtest.h>

#include "runtime/observability/label_cap.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime start{1h};

WebhookId webhook(std::size_t number) {
  WebhookId id{};
  id.bytes[15] = static_cast<std::uint8_t>(number);
  return id;
}

TokenBucket bucket(std::uint32_t burst) {
  return TokenBucket{RateLimit{.count = 1, .period = 1s, .burst = burst}, start};
}

RateLimitUse use(std::size_t number, std::uint32_t hits, std::optional<TokenBucket> own = {}) {
  return {.webhook_id = webhook(number), .hits = hits, .bucket = own};
}

/// The values of one metric, by webhook.
std::map<std::string, double> values(const RateLimitMeter& meter, const std::string& name,
                                     MonoTime now = start) {
  std::map<std::string, double> found;
  for (const MetricSample& sample : meter.samples(now)) {
    if (sample.name == name) {
      EXPECT_EQ(sample.is_total, name.ends_with("_total"));
      found.emplace(sample.labels.at(0).second, sample.value);
    }
  }
  return found;
}

constexpr auto tokens = "webhook_rate_limit_tokens_available";
constexpr auto hits = "webhook_rate_limit_hits_total";

TEST(RateLimitMeter, ShowsTheTokensOfTheMoment) {
  RateLimitMeter meter;
  TokenBucket used = bucket(5);
  EXPECT_TRUE(used.try_take(start));
  EXPECT_TRUE(used.try_take(start));
  meter.record(std::vector{use(1, 0, used), use(2, 3)});
  EXPECT_EQ(values(meter, tokens), (std::map<std::string, double>{{webhook(1).to_string(), 3}}));
  EXPECT_EQ(values(meter, tokens, start + 1s).begin()->second, 4);
  EXPECT_EQ(values(meter, tokens, start + 1h).begin()->second, 5);
  meter.record(std::vector{use(1, 0)});  // The webhook has no rate limit any more.
  EXPECT_TRUE(values(meter, tokens).empty());
}

TEST(RateLimitMeter, AddsUpHitsUntilTheWebhookIsRemoved) {
  RateLimitMeter meter;
  meter.record(std::vector{use(1, 2, bucket(1))});
  meter.record(std::vector{use(1, 3, bucket(1))});
  EXPECT_EQ(values(meter, hits), (std::map<std::string, double>{{webhook(1).to_string(), 5}}));
  meter.forget(webhook(1));
  EXPECT_TRUE(meter.samples(start).empty());
}

TEST(RateLimitMeter, BoundsTheNumberOfSeries) {
  RateLimitMeter meter;
  for (std::size_t number = 0; number < label_values_max + 5; ++number) {
    meter.record(std::vector{use(number, 1, bucket(static_cast<std::uint32_t>(200 - number)))});
  }
  meter.record(std::vector{use(0, 1, bucket(200))});
  const std::map<std::string, double> available = values(meter, tokens);
  EXPECT_EQ(available.size(), label_values_max + 1);
  EXPECT_EQ(available.at("other"), 200 + 199 + 198 + 197 + 196) << "those with the most tokens";
  const std::map<std::string, double> reached = values(meter, hits);
  EXPECT_EQ(reached.size(), label_values_max + 1);
  EXPECT_EQ(reached.at("other"), 5);
  EXPECT_EQ(reached.at(webhook(0).to_string()), 2);
}

}  // namespace
}  // namespace postrider
