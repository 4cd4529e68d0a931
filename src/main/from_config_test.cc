#include "main/from_config.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

TEST(FromConfig, TheDefaultsAreThoseOfTheComponents) {
  const config::Config config;
  const ShardOptions shard = shard_options(config);
  EXPECT_EQ(shard.in_flight_max, ShardOptions{}.in_flight_max);
  EXPECT_EQ(shard.tenant_in_flight_max, ShardOptions{}.tenant_in_flight_max);
  EXPECT_EQ(shard.first_attempt_reserve, ShardOptions{}.first_attempt_reserve);
  EXPECT_EQ(shard.tenant_rate, std::nullopt);
  EXPECT_EQ(shard.total_rate, std::nullopt);
  EXPECT_EQ(shard.disable_after, ShardOptions{}.disable_after);

  EXPECT_EQ(alert_limits(config.alerts), AlertLimits{});

  const api::ApiOptions api = api_options(config);
  EXPECT_EQ(api.webhook_defaults, Webhook{});
  EXPECT_EQ(api.data_bytes_max, api::ApiOptions{}.data_bytes_max);
  EXPECT_EQ(api.idempotency_window, 24h);
  EXPECT_FALSE(api.derive_keys);
  EXPECT_FALSE(api.refuse_in_progress);
  EXPECT_EQ(api.key_rate, std::nullopt);
  EXPECT_TRUE(api.user_agent.starts_with("Postrider/"));
  EXPECT_EQ(api.frame_ancestors, api::ApiOptions{}.frame_ancestors);
  EXPECT_EQ(api.key_session, api::ApiOptions{}.key_session);
}

TEST(FromConfig, ShareAndReserveScaleWithInFlightMax) {
  config::Config config;
  config::EngineConfig& engine = config.engine;
  engine.in_flight_max = 50;
  EXPECT_EQ(shard_options(config).tenant_in_flight_max, 25u);
  EXPECT_EQ(shard_options(config).first_attempt_reserve, 12u);
  engine.in_flight_max = 1;
  EXPECT_EQ(shard_options(config).tenant_in_flight_max, 1u);
  EXPECT_EQ(shard_options(config).first_attempt_reserve, 0u);
  EXPECT_EQ(shard_options(config).host_in_flight_max, std::nullopt);
  engine.host_in_flight_max = 3;
  EXPECT_EQ(shard_options(config).host_in_flight_max, 3u);

  engine.tenant_in_flight_max = 7;
  EXPECT_EQ(shard_options(config).tenant_in_flight_max, 7u);
}

TEST(FromConfig, MetricsNameTheWorkerPoolOfASharedStore) {
  config::Config config;
  EXPECT_EQ(pool_id(config), "all");
  config.store = Secret<std::string>{"postgres://localhost/p"};
  EXPECT_EQ(pool_id(config), "default");
  config.cluster.pool = "eu";
  EXPECT_EQ(pool_id(config), "eu");
}

TEST(FromConfig, AServerIsShownByItsHostNameUnlessItsAddressIsSet) {
  config::Config config;
  config.listen = "0.0.0.0:80";
  EXPECT_EQ(node_address(config, "hooks-1"), "hooks-1 (0.0.0.0:80)");
  config.cluster.address = "hooks.example.com";
  EXPECT_EQ(node_address(config, "hooks-1"), "hooks.example.com");
}

TEST(FromConfig, ZeroWebhooksPerTenantMeansNoLimit) {
  config::Config config;
  EXPECT_EQ(webhooks_per_tenant_max(config), 1'000u);
  config.webhooks.per_tenant_max = 0;
  EXPECT_EQ(webhooks_per_tenant_max(config), std::nullopt);
}

TEST(FromConfig, CapsOfWebhooksAreUnlimitedUnlessTheyAreSet) {
  config::Config config;
  EXPECT_EQ(shard_options(config).caps, WebhookCaps{});
  EXPECT_EQ(api_options(config).webhook_caps, WebhookCaps{});
  config.engine.webhook_timeout_max = 5s;
  config.engine.webhook_in_flight_max = 3;
  const WebhookCaps caps{.timeout = 5s, .in_flight = 3};
  EXPECT_EQ(shard_options(config).caps, caps);
  EXPECT_EQ(api_options(config).webhook_caps, caps);
}

TEST(FromConfig, ListenersShareTheConnectionLimit) {
  config::ApiConfig api;
  api.connections_max = 10;
  EXPECT_EQ(http_options(api, 3).connections_max, 10u);
  EXPECT_EQ(connection_rules(api).total, 10u);
  api.connections_per_address_max = 0;
  EXPECT_EQ(connection_rules(api).owner_max, 10u);
  EXPECT_EQ(http_options(api, 4).buffered_bytes_max, http_options(api, 1).buffered_bytes_max / 4);
  EXPECT_EQ(http_options(api, 3).extra_connections_max, 86u);
  api.body_bytes_max = std::size_t{1} << 30;
  EXPECT_GE(http_options(api, 1).buffered_bytes_max, 4 * api.body_bytes_max);
}

TEST(FromConfig, EveryDeliverySettingIsPassedOn) {
  config::Config config;
  config.webhooks.disable_after = 1h;
  config.engine.tenant_rate = {.per_second = 2, .burst = 3};
  config.engine.total_rate = {.per_second = 4, .burst = 5};
  config.user_agent = "Example/1";
  const ShardOptions shard = shard_options(config);
  EXPECT_EQ(shard.disable_after, 1h);
  EXPECT_EQ(shard.tenant_rate, (RateLimit{.count = 2, .period = 1s, .burst = 3}));
  EXPECT_EQ(shard.total_rate, (RateLimit{.count = 4, .period = 1s, .burst = 5}));
  EXPECT_EQ(user_agent(config), "Example/1");
}

TEST(FromConfig, EveryAlertSettingIsPassedOn) {
  const AlertLimits limits = alert_limits({.dead_letters_per_hour = 1,
                                           .total_dead_letters_per_hour = 10,
                                           .dead_letter_percentage = 11,
                                           .deliveries_min = 12,
                                           .dead_letters_window = 13ms,
                                           .permanent_failures = false,
                                           .dead_letters_waiting = 2,
                                           .window = 3ms,
                                           .failure_percentage = 4,
                                           .failure = 5ms,
                                           .total_failure_percentage = 14,
                                           .success_percentage = 6,
                                           .p99 = 15ms,
                                           .circuit_open = 7ms,
                                           .queue_depth = 8,
                                           .pool_percentage = 9});
  AlertLimits expected;
  expected.dead_letters_max = 1;
  expected.total_dead_letters_max = 10;
  expected.dead_letter_share_max = 11;
  expected.deliveries_min = 12;
  expected.dead_letters_window = 13ms;
  expected.permanent_failures = false;
  expected.total_failures_max = 14;
  expected.p99_max = 15ms;
  expected.tenant_dead_letters_max = 2;
  expected.share_window = 3ms;
  expected.failures_max = 4;
  expected.failing_for = 5ms;
  expected.successes_min = 6;
  expected.circuit_open_max = 7ms;
  expected.queue_max = 8;
  expected.pool_max = 9;
  EXPECT_EQ(limits, expected);
}

TEST(FromConfig, EveryRetentionSettingIsPassedOn) {
  const RetentionOptions options = retention_options(
      {.events = 1h, .dead_letters = 2h, .removed_webhooks = 4h, .operations = 3h});
  EXPECT_EQ(options.ages.events, 1h);
  EXPECT_EQ(options.ages.dead_letters, 2h);
  EXPECT_EQ(options.ages.removed_webhooks, 4h);
  EXPECT_EQ(options.operations, 3h);
}

TEST(FromConfig, EveryApiSettingIsPassedOn) {
  config::Config config;
  config.targets.allow_http = true;
  config.webhooks.defaults.max_in_flight = 7;
  config.webhooks.require_verification = true;
  config.events = {.data_bytes_max = 1'000, .require_known_types = true};
  config.idempotency = {.window = 1h,
                        .derive = config::KeyDerivation::resource,
                        .in_progress = config::RepeatInProgress::conflict};
  config.api.rate = {.per_second = 2, .burst = 3};
  config.api.unauthenticated_rate = {.per_second = 4, .burst = 5};
  config.require_known_tenants = true;
  config.public_url = "https://hooks.example.com";
  config.portal = {.title = "Hooks", .logo_url = "", .primary_color = "#112233"};
  config.portal.key_session = std::chrono::minutes{5};
  config.metrics_open = false;
  config.user_agent = "Example/1";
  const api::ApiOptions options = api_options(config);
  EXPECT_TRUE(options.url_policy.allow_http);
  EXPECT_EQ(options.webhook_defaults.max_in_flight, 7u);
  EXPECT_TRUE(options.require_verification);
  EXPECT_EQ(options.data_bytes_max, 1'000u);
  EXPECT_TRUE(options.require_known_event_types);
  EXPECT_EQ(options.idempotency_window, 1h);
  EXPECT_TRUE(options.derive_keys);
  EXPECT_TRUE(options.refuse_in_progress);
  EXPECT_EQ(options.key_rate, (RateLimit{.count = 2, .period = 1s, .burst = 3}));
  EXPECT_EQ(options.address_rate, (RateLimit{.count = 4, .period = 1s, .burst = 5}));
  EXPECT_TRUE(options.require_known_tenants);
  EXPECT_EQ(options.public_url, "https://hooks.example.com");
  EXPECT_EQ(options.key_session, std::chrono::minutes{5});
  EXPECT_EQ(options.branding,
            (Branding{.title = "Hooks", .logo_url = std::nullopt, .primary_color = "#112233"}));
  EXPECT_FALSE(options.open_metrics);
  EXPECT_EQ(options.user_agent, "Example/1");
  EXPECT_TRUE(options.make_schema_check);
}

TEST(FromConfig, MetricsAreOpenOnLoopbackOnly) {
  config::Config config;
  config.listen = "127.0.0.1:8080";
  EXPECT_TRUE(api_options(config).open_metrics);
  config.listen = "[::1]:8080";
  EXPECT_TRUE(api_options(config).open_metrics);
  config.listen = "0.0.0.0:8080";
  EXPECT_FALSE(api_options(config).open_metrics);
  config.listen = "192.0.2.1:8080";
  EXPECT_FALSE(api_options(config).open_metrics);
}

TEST(FromConfig, SecretsAreSealedWithAKeyFromEitherSource) {
  config::Config config;
  EXPECT_FALSE(api_options(config).secrets_sealed);
  config.secrets.key_file = "/etc/postrider/key";
  EXPECT_TRUE(api_options(config).secrets_sealed);
  config.secrets = {.key = Secret<std::string>{"key"}};
  EXPECT_TRUE(api_options(config).secrets_sealed);
}

TEST(FromConfig, EveryListenerSettingIsPassedOn) {
  config::ApiConfig api;
  api.body_bytes_max = 1'001;
  api.header_bytes_max = 1'002;
  api.connections_per_address_max = 3;
  api.header_timeout = 4s;
  api.body_timeout = 5s;
  api.write_timeout = 6s;
  api.idle_timeout = 7s;
  api.trusted_proxies = {*Cidr::parse("10.0.0.0/8")};
  const api::HttpServerOptions options = http_options(api, 1);
  EXPECT_EQ(options.body_bytes_max, 1'001u);
  EXPECT_EQ(options.header_bytes_max, 1'002u);
  EXPECT_EQ(connection_rules(api).owner_max, 3u);
  EXPECT_EQ(options.header_timeout, 4s);
  EXPECT_EQ(options.body_timeout, 5s);
  EXPECT_EQ(options.write_timeout, 6s);
  EXPECT_EQ(options.idle_timeout, 7s);
  EXPECT_EQ(options.trusted_proxies, api.trusted_proxies);
}

TEST(FromConfig, PrivateTargetsMayUseHttp) {
  config::Config config;
  EXPECT_FALSE(url_policy(config).allow_http);
  config.targets.addresses.allow_private = true;
  EXPECT_TRUE(url_policy(config).allow_http);
  EXPECT_EQ(worker_count(config, 1), 1u);
  EXPECT_EQ(worker_count(config, 8), 7u);
  config.io_threads = 3;
  EXPECT_EQ(worker_count(config, 8), 3u);
}

}  // namespace
}  // namespace postrider
