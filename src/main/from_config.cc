#include "main/from_config.h"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/json_schema/schema_check.h"
#include "adapters/openssl/openssl_crypto.h"
#include "adapters/openssl/signer.h"
#include "api/http/listen_address.h"
#include "api/resources/own_host.h"
#include "cli/text/version.h"
#include "config/settings.h"
#include "runtime/observability/cluster_samples.h"

namespace postrider {

UrlPolicy url_policy(const config::Config& config) {
  UrlPolicy policy = config.targets;
  policy.allow_http = policy.allow_http || policy.addresses.allow_private;
  return policy;
}

std::size_t worker_count(const config::Config& config, std::size_t cores) {
  return config.io_threads > 0 ? config.io_threads : std::max<std::size_t>(cores, 2) - 1;
}

std::string user_agent(const config::Config& config) {
  return config.user_agent.empty() ? fmt::format("Postrider/{}", cli::version())
                                   : config.user_agent;
}

std::string pool_id(const config::Config& config) {
  return config.store.reveal().empty() ? "all" : pool_label(config.cluster.pool);
}

std::string node_address(const config::Config& config, const std::string& host_name) {
  return config.cluster.address.empty() ? fmt::format("{} ({})", host_name, config.listen)
                                        : config.cluster.address;
}

LeaseOptions lease_options(const NodeIdentity& identity, Millis length) {
  // Of the default length: a margin of 6 s, and 200 ms between two turns.
  return {.node = identity.id,
          .pool = identity.pool,
          .length = length,
          .margin = lease_margin(length),
          .turn_pause = length / 75};
}

namespace {

WebhookCaps webhook_caps(const config::EngineConfig& engine) {
  WebhookCaps caps;
  if (engine.webhook_timeout_max > Millis{0}) {
    caps.timeout = engine.webhook_timeout_max;
  }
  if (engine.webhook_in_flight_max > 0) {
    caps.in_flight = engine.webhook_in_flight_max;
  }
  return caps;
}

}  // namespace

ShardOptions shard_options(const config::Config& config) {
  const config::EngineConfig& engine = config.engine;
  ShardOptions shard;
  shard.disable_after = config.webhooks.disable_after;
  const bool has_tenant_max = engine.tenant_in_flight_max > 0;
  shard.in_flight_max = engine.in_flight_max;
  shard.tenant_in_flight_max =
      has_tenant_max ? engine.tenant_in_flight_max : std::max(engine.in_flight_max / 2, 1u);
  shard.first_attempt_reserve =
      engine.in_flight_max * engine.first_attempt_reserve_percentage / 100;
  if (engine.host_in_flight_max > 0) {
    shard.host_in_flight_max = engine.host_in_flight_max;
  }
  shard.tenant_rate = engine.tenant_rate.limit();
  shard.total_rate = engine.total_rate.limit();
  shard.caps = webhook_caps(engine);
  return shard;
}

std::optional<std::uint32_t> webhooks_per_tenant_max(const config::Config& config) {
  const std::uint32_t max = config.webhooks.per_tenant_max;
  return max > 0 ? std::optional{max} : std::nullopt;
}

AlertLimits alert_limits(const config::AlertConfig& alerts) {
  AlertLimits limits;
  limits.dead_letters_window = alerts.dead_letters_window;
  limits.dead_letters_max = alerts.dead_letters_per_hour;
  limits.total_dead_letters_max = alerts.total_dead_letters_per_hour;
  limits.dead_letter_share_max = alerts.dead_letter_percentage;
  limits.deliveries_min = alerts.deliveries_min;
  limits.permanent_failures = alerts.permanent_failures;
  limits.share_window = alerts.window;
  limits.failures_max = alerts.failure_percentage;
  limits.failing_for = alerts.failure;
  limits.total_failures_max = alerts.total_failure_percentage;
  limits.successes_min = alerts.success_percentage;
  limits.p99_max = alerts.p99;
  limits.circuit_open_max = alerts.circuit_open;
  limits.tenant_dead_letters_max = alerts.dead_letters_waiting;
  limits.queue_max = alerts.queue_depth;
  limits.pool_max = alerts.pool_percentage;
  return limits;
}

RetentionOptions retention_options(const config::RetentionConfig& retention) {
  return {.ages = {.events = retention.events,
                   .dead_letters = retention.dead_letters,
                   .removed_webhooks = retention.removed_webhooks},
          .operations = retention.operations};
}

TracingOptions tracing_options(const config::TracingConfig& tracing) {
  TracingOptions options{.sample_ratio = tracing.sample_ratio};
  options.queue.timeout = tracing.timeout;
  return options;
}

otlp::OtlpOptions otlp_options(const config::TracingConfig& tracing) {
  // The endpoint was valid when it was read.
  return {.endpoint = config::parse_collector_url(tracing.endpoint).value_or(TargetUrl{}),
          .headers = tracing.headers,
          .service = {.name = tracing.service_name, .version = std::string{cli::version()}}};
}

Branding branding(const config::PortalConfig& portal) {
  const auto if_set = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional{text};
  };
  return {.title = if_set(portal.title),
          .logo_url = if_set(portal.logo_url),
          .primary_color = if_set(portal.primary_color)};
}

api::ApiOptions api_options(const config::Config& config) {
  api::ApiOptions options;
  options.url_policy = url_policy(config);
  options.webhook_defaults = config.webhooks.defaults;
  options.data_bytes_max = config.events.data_bytes_max;
  options.idempotency_window = config.idempotency.window;
  options.refuse_in_progress = config.idempotency.in_progress == config::RepeatInProgress::conflict;
  options.derive_keys = config.idempotency.derive == config::KeyDerivation::resource;
  options.key_rate = config.api.rate.limit();
  options.address_rate = config.api.unauthenticated_rate.limit();
  options.require_known_event_types = config.events.require_known_types;
  options.make_schema_check = make_schema_check;
  options.crypto = &openssl_crypto();
  options.make_sign = make_sign;
  options.secrets_sealed = !config.secrets.key_file.empty() || config.secrets.key.has_value();
  options.require_known_tenants = config.require_known_tenants;
  options.require_verification = config.webhooks.require_verification;
  options.secret_text_length = config.webhooks.secret_text_length;
  options.webhook_caps = webhook_caps(config.engine);
  options.public_url = config.public_url;
  options.frame_ancestors = config.portal.frame_ancestors;
  options.branding = branding(config.portal);
  options.key_session = config.portal.key_session;
  options.tls = !config.tls.certificate.empty();
  if (const auto listen = api::parse_listen_address(config.listen)) {
    options.listen_address = IpAddress::parse(listen->address().to_string()).value_or(IpAddress{});
  }
  options.open_metrics = config.metrics_open && api::is_loopback(options.listen_address);
  options.body_bytes_max = config.api.body_bytes_max;
  options.user_agent = user_agent(config);
  return options;
}

ShareRules connection_rules(const config::ApiConfig& config) {
  const std::uint32_t per_address = config.connections_per_address_max;
  return {.total = config.connections_max,
          .owner_max = per_address > 0 ? per_address : config.connections_max,
          .owner_min = 1,
          .reserve = 0};  // The operator has connections beyond the total.
}

api::HttpServerOptions http_options(const config::ApiConfig& config, std::size_t listeners) {
  api::HttpServerOptions options;
  options.header_bytes_max = config.header_bytes_max;
  options.body_bytes_max = config.body_bytes_max;
  options.connections_max = config.connections_max;
  options.extra_connections_max = (config.extra_connections_max + listeners - 1) / listeners;
  options.header_timeout = config.header_timeout;
  options.body_timeout = config.body_timeout;
  options.write_timeout = config.write_timeout;
  options.idle_timeout = config.idle_timeout;
  options.trusted_proxies = config.trusted_proxies;
  // Several bodies of the allowed size must fit: see body_share_rules().
  options.buffered_bytes_max =
      std::max(options.buffered_bytes_max / listeners, 4 * config.body_bytes_max);
  return options;
}

}  // namespace postrider
