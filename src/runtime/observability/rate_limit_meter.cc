#include "runtime/observability/rate_limit_meter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/observability/label_cap.h"

namespace postrider {
namespace {

MetricSample tokens_sample(std::string webhook_id, double tokens) {
  return {.name = "webhook_rate_limit_tokens_available",
          .help = "Requests that the rate limit of the webhook allows at once",
          .labels = {{"webhook_id", std::move(webhook_id)}},
          .value = tokens};
}

MetricSample hits_sample(std::string webhook_id, std::uint64_t hits) {
  return {.name = "webhook_rate_limit_hits_total",
          .help = "Times a rate limit made the webhook wait",
          .is_total = true,
          .labels = {{"webhook_id", std::move(webhook_id)}},
          .value = static_cast<double>(hits)};
}

}  // namespace

void RateLimitMeter::record(std::span<const RateLimitUse> uses) {
  if (uses.empty()) {
    return;
  }
  const std::lock_guard lock{mutex_};
  for (const RateLimitUse& use : uses) {
    if (use.bucket) {
      buckets_.insert_or_assign(use.webhook_id, *use.bucket);
    } else {
      buckets_.erase(use.webhook_id);
    }
    if (use.hits == 0) {
      continue;
    }
    if (hits_.contains(use.webhook_id) || hits_.size() < label_values_max) {
      hits_[use.webhook_id] += use.hits;
    } else {
      other_hits_ += use.hits;
    }
  }
}

void RateLimitMeter::forget(WebhookId webhook_id) {
  const std::lock_guard lock{mutex_};
  buckets_.erase(webhook_id);
  hits_.erase(webhook_id);
}

std::vector<MetricSample> RateLimitMeter::samples(MonoTime now) const {
  const std::lock_guard lock{mutex_};
  std::vector<MetricSample> samples;
  add_tokens(now, samples);
  add_hits(samples);
  return samples;
}

void RateLimitMeter::add_tokens(MonoTime now, std::vector<MetricSample>& samples) const {
  std::vector<std::pair<double, WebhookId>> tokens;
  tokens.reserve(buckets_.size());
  for (const auto& [webhook_id, bucket] : buckets_) {
    tokens.emplace_back(bucket.tokens(now), webhook_id);
  }
  const std::size_t shown = std::min(tokens.size(), label_values_max);
  std::ranges::partial_sort(tokens, tokens.begin() + static_cast<std::ptrdiff_t>(shown));
  double others = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i < shown) {
      samples.push_back(tokens_sample(tokens[i].second.to_string(), tokens[i].first));
    } else {
      others += tokens[i].first;
    }
  }
  if (shown < tokens.size()) {
    samples.push_back(tokens_sample("other", others));
  }
}

void RateLimitMeter::add_hits(std::vector<MetricSample>& samples) const {
  for (const auto& [webhook_id, hits] : hits_) {
    samples.push_back(hits_sample(webhook_id.to_string(), hits));
  }
  if (other_hits_ > 0) {
    samples.push_back(hits_sample("other", other_hits_));
  }
}

}  // namespace postrider
