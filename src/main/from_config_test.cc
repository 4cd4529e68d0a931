#include "main/from_config.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

using namespace std::chrono_literals;

TEST(FromConfig, TheDefaultsAreThoseOfTheParts) {
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
  EXPECT_EQ(api.key_rate, std::nullopt);
  EXPECT_TRUE(api.user_agent.starts_with("Postrider/"));
}

TEST(FromConfig, SmallEnginesKeepRoomForRetriesAndForEveryTenant) {
  config::Config config;
  config::EngineConfig& engine = config.engine;
  engine.in_flight_max = 50;
  EXPECT_EQ(shard_options(config).tenant_in_flight_max, 25u);
  EXPECT_EQ(shard_options(config).first_attempt_reserve, 12u);
  engine.in_flight_max = 1;
  EXPECT_EQ(shard_options(config).tenant_in_flight_max, 1u);
  EXPECT_EQ(shard_options(config).first_attempt_reserve, 0u);
  engine.tenant_in_flight_max = 7;
  EXPECT_EQ(shard_options(config).tenant_in_flight_max, 7u);
}

TEST(FromConfig, ListenersShareTheConnections) {
  config::ApiConfig api;
  api.connections_max = 10;
  EXPECT_EQ(http_options(api, 1).connections_max, 10u);
  EXPECT_EQ(http_options(api, 3).connections_max, 4u);
  api.body_bytes_max = std::size_t{1} << 30;
  EXPECT_GE(http_options(api, 1).buffered_bytes_max, api.body_bytes_max);
}

TEST(FromConfig, PrivateTargetsMayBePlain) {
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
