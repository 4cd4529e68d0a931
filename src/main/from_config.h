// Translates the configuration into the options of each component. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "adapters/otlp/otlp_exporter.h"
#include "api/http/http_server.h"
#include "api/resources/api_options.h"
#include "config/config.h"
#include "runtime/delivery/node.h"

namespace postrider {

[[nodiscard]] UrlPolicy url_policy(const config::Config& config);

/// Leaves one core to the store thread unless the number is configured.
[[nodiscard]] std::size_t worker_count(const config::Config& config, std::size_t cores);

[[nodiscard]] std::string user_agent(const config::Config& config);

/// How this server's slots are labelled in metrics.
[[nodiscard]] std::string pool_id(const config::Config& config);

/// How this server is shown to operators. `host_name` is the machine's.
[[nodiscard]] std::string node_address(const config::Config& config, const std::string& host_name);

/// The margin and the pauses follow the length of a lease.
[[nodiscard]] LeaseOptions lease_options(const NodeIdentity& identity, Millis length);

/// Limits for all workers together.
[[nodiscard]] ShardOptions shard_options(const config::Config& config);

/// Of tenants without their own limit. nullopt: unlimited.
[[nodiscard]] std::optional<std::uint32_t> webhooks_per_tenant_max(const config::Config& config);

[[nodiscard]] AlertLimits alert_limits(const config::AlertConfig& alerts);

[[nodiscard]] RetentionOptions retention_options(const config::RetentionConfig& retention);

[[nodiscard]] TracingOptions tracing_options(const config::TracingConfig& tracing);

/// `tracing.endpoint` must be set.
[[nodiscard]] otlp::OtlpOptions otlp_options(const config::TracingConfig& tracing);

[[nodiscard]] api::ApiOptions api_options(const config::Config& config);

/// The shares of the connections of all listeners.
[[nodiscard]] ShareRules connection_rules(const config::ApiConfig& config);

/// Options of one of `listeners` listeners, without certificate, shares and callbacks.
[[nodiscard]] api::HttpServerOptions http_options(const config::ApiConfig& config,
                                                  std::size_t listeners);

}  // namespace postrider
