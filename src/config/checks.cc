#include "config/checks.h"

#include <algorithm>

#include <fmt/format.h>

namespace postrider::config {
namespace {

tl::unexpected<Error> refuse(const Loaded& loaded, const std::string& key, std::string_view rule) {
  return fail(Errc::invalid, fmt::format("{}: {} {}.", loaded.origin_of(key), key, rule));
}

Result<void> check_retry(const Loaded& loaded) {
  const RetryPolicy& retry = loaded.config.webhooks.defaults.retry;
  if (retry.delay_max < retry.delay_base) {
    return refuse(loaded, "webhooks.retry.max_delay_ms",
                  "must be at least webhooks.retry.base_delay_ms");
  }
  return {};
}

/// True if the user set the value, rather than a profile, a preset or the default.
bool is_given(const Loaded& loaded, const std::string& key) {
  const std::string origin = loaded.origin_of(key);
  return origin != "default" && !origin.starts_with("profile ") && !origin.starts_with("preset, ");
}

Result<void> check_breaker(Loaded& loaded) {
  BreakerPolicy& breaker = loaded.config.webhooks.defaults.breaker;
  const std::string sleep_window = "webhooks.circuit_breaker.sleep_window_ms";
  if (breaker.sleep_max < breaker.sleep_window &&
      !is_given(loaded, "webhooks.circuit_breaker.sleep_max_ms")) {
    breaker.sleep_max = breaker.sleep_window;
    loaded.origins["webhooks.circuit_breaker.sleep_max_ms"] = loaded.origin_of(sleep_window);
  }
  if (breaker.sleep_max < breaker.sleep_window) {
    return refuse(loaded, "webhooks.circuit_breaker.sleep_max_ms",
                  "must be at least webhooks.circuit_breaker.sleep_window_ms");
  }
  if (breaker.window != BreakerWindow::count) {
    return {};
  }
  if (breaker.minimum_throughput > breaker.window_calls) {
    return refuse(loaded, "webhooks.circuit_breaker.minimum_throughput",
                  "must be at most webhooks.circuit_breaker.window_calls, or the circuit would "
                  "never open");
  }
  if (breaker.failure_count_threshold > breaker.window_calls) {
    return refuse(loaded, "webhooks.circuit_breaker.failure_count_threshold",
                  "must be at most webhooks.circuit_breaker.window_calls, or the circuit would "
                  "never open");
  }
  return {};
}

Result<void> check_tls(const Loaded& loaded) {
  const TlsConfig& tls = loaded.config.tls;
  if (tls.certificate.empty() != tls.key.empty()) {
    return refuse(loaded, tls.key.empty() ? "tls.certificate" : "tls.key",
                  tls.key.empty() ? "requires tls.key" : "requires tls.certificate");
  }
  return {};
}

/// Accepts the defaults without `store`, because a printed configuration contains them and must
/// load again.
Result<void> check_cluster(const Loaded& loaded) {
  if (!loaded.config.store.reveal().empty()) {
    return {};
  }
  const ClusterConfig& given = loaded.config.cluster;
  std::string key;
  if (given.lease != ClusterConfig{}.lease) {
    key = "cluster.lease_ms";
  } else if (!given.pool.empty()) {
    key = "cluster.pool";
  } else if (!given.address.empty()) {
    key = "cluster.address";
  } else {
    return {};
  }
  return refuse(loaded, key,
                "requires store: only servers that share a PostgreSQL database form a cluster");
}

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= 256 &&
         std::ranges::all_of(text, [](char c) { return 0x21 <= c && c <= 0x7e; });
}

}  // namespace

std::optional<RateLimit> RateSetting::limit() const {
  if (per_second == 0 && per_minute == 0) {
    return std::nullopt;
  }
  const bool by_minute = per_minute > 0;
  const std::uint32_t count = by_minute ? per_minute : per_second;
  const std::uint32_t second = by_minute ? (count + 59) / 60 : count;
  return RateLimit{.count = count,
                   .period = Millis{by_minute ? 60'000 : 1'000},
                   .burst = burst > 0 ? burst : second};
}

Result<void> check(Loaded& loaded) {
  POSTRIDER_CHECK(check_retry(loaded));
  POSTRIDER_CHECK(check_breaker(loaded));
  POSTRIDER_CHECK(check_tls(loaded));
  POSTRIDER_CHECK(check_cluster(loaded));
  Config& config = loaded.config;
  if (config.admin_key && !is_key(config.admin_key->reveal())) {
    return fail(Errc::invalid,
                "POSTRIDER_ADMIN_KEY must be 1 to 256 visible ASCII characters without spaces.");
  }
  config.webhooks.defaults.rate_limit = config.webhooks.rate.limit();
  apply_attempts_auto(config.webhooks.defaults.retry);
  return {};
}

}  // namespace postrider::config
