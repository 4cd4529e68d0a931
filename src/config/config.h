// The configuration of the server as plain values. The table in settings.h defines the key, range
// and default of each setting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/secret.h"
#include "core/base/time.h"
#include "core/model/notification_channel.h"
#include "core/model/webhook.h"
#include "core/net/address.h"
#include "core/net/target_url.h"
#include "core/policy/token_bucket.h"
#include "core/request/secret_text.h"
#include "core/source/field_mapping.h"

namespace postrider::config {

/// A rate in the units of the configuration. Zero means not set.
struct RateSetting {
  std::uint32_t per_second = 0;
  std::uint32_t per_minute = 0;
  std::uint32_t burst = 0;

  /// Returns nullopt if no rate is set. The default burst is the rate of one second.
  [[nodiscard]] std::optional<RateLimit> limit() const;
};

/// Servers that share the database `store`. Has an effect only if `store` is set.
struct ClusterConfig {
  Millis lease{15'000};
  std::string pool;     // The worker pool of this server. Empty: the default pool.
  std::string address;  // Shown to operators. Empty: the host name and `listen`.
};

/// The HTTP listener.
struct ApiConfig {
  std::size_t body_bytes_max = std::size_t{16}
                               << 20;  // Enough for a batch of 1,000 typical events.
  std::size_t header_bytes_max = std::size_t{16} << 10;
  std::uint32_t connections_max = 10'000;             // Across all io threads.
  std::uint32_t connections_per_address_max = 1'000;  // Zero: no limit per address.
  std::uint32_t extra_connections_max = 256;          // Over the limit. Not a setting.
  Millis header_timeout{10'000};
  Millis body_timeout{30'000};
  Millis write_timeout{30'000};
  Millis idle_timeout{75'000};
  RateSetting rate;                                                  // Per key.
  RateSetting unauthenticated_rate{.per_second = 20, .burst = 100};  // Per address.
  std::vector<Cidr> trusted_proxies;
};

struct TlsConfig {
  std::string certificate;  // PEM files; both or neither.
  std::string key;
};

/// The dashboard, for operators and tenants.
struct PortalConfig {
  std::string title;  // Empty: not set, as the two below.
  std::string logo_url;
  std::string primary_color;
  std::vector<std::string> frame_ancestors = {"none"};  // See frame_ancestors.h.
  Millis key_session = std::chrono::hours{12};
};

enum class KeyDerivation : std::uint8_t { none, resource };

/// The answer to a repeated publish while the first one is still being delivered.
enum class RepeatInProgress : std::uint8_t { duplicate, conflict };

enum class LogFormat : std::uint8_t { text, json };

/// Which requests to the API have a log line.
enum class LogAccess : std::uint8_t { all, errors, off };

struct EventConfig {
  std::size_t data_bytes_max = std::size_t{256} << 10;
  bool require_known_types = false;
};

struct IdempotencyConfig {
  Millis window{86'400'000};
  KeyDerivation derive = KeyDerivation::none;
  RepeatInProgress in_progress = RepeatInProgress::duplicate;
};

/// Limits of the whole node, across all io threads.
struct EngineConfig {
  std::uint32_t in_flight_max = 4096;
  std::uint32_t tenant_in_flight_max = 0;  // Zero: half of in_flight_max.
  std::uint32_t host_in_flight_max = 0;    // Zero: no limit.
  Millis webhook_timeout_max{0};           // Of tenants without limits of their own; zero: none.
  std::uint32_t webhook_in_flight_max = 0;
  std::uint32_t first_attempt_reserve_percentage = 25;
  RateSetting tenant_rate;
  RateSetting total_rate;
};

/// Defaults of new webhooks.
struct WebhookConfig {
  Webhook defaults;
  std::string retry_preset = "patient";
  std::string breaker_preset = "standard";
  RateSetting rate;
  Millis disable_after{432'000'000};  // Five days without a success; zero: never.
  bool require_verification = false;  // A new URL must echo a challenge.
  std::size_t secret_text_length = secret_text_length_default;
  std::uint32_t per_tenant_max = 1'000;  // Zero: no limit.
};

struct RetentionConfig {
  Millis events = std::chrono::hours{24 * 90};  // Zero: forever.
  Millis dead_letters = std::chrono::hours{24 * 30};
  Millis removed_webhooks = std::chrono::hours{24 * 90};  // Their history.
  Millis operations = std::chrono::hours{24 * 30};        // After they finish.
  std::string archive_directory;  // Empty: expired data is deleted without an archive.
  bool shrinking_store = true;    // Applies when the store is created.
};

struct SecretsConfig {
  std::string key_file;
  std::optional<Secret<std::string>> key;  // POSTRIDER_SECRETS_KEY.
};

/// Thresholds of alerts.
struct AlertConfig {
  std::uint32_t dead_letters_per_hour = 10;  // Per webhook.
  std::uint32_t total_dead_letters_per_hour = 100;
  double dead_letter_percentage = 1;      // Above this share of the deliveries that end,
  std::uint32_t deliveries_min = 100;     // if at least this many end.
  Millis dead_letters_window{3'600'000};  // The "hour" of the settings about dead letters.
  bool permanent_failures = true;
  std::uint32_t dead_letters_waiting = 1'000;  // Per tenant.
  Millis window{300'000};                      // The period for the percentages of attempts.
  double failure_percentage = 10;              // Above this share of a webhook's attempts,
  Millis failure{600'000};                     // for this long.
  double total_failure_percentage = 10;        // Above this share of all attempts, as long.
  double success_percentage = 90;              // Below this share of all attempts.
  Millis p99{30'000};
  Millis circuit_open{3'600'000};
  std::uint32_t queue_depth = 10'000;
  double pool_percentage = 80;
};

/// Traces for a collector.
struct TracingConfig {
  using Header = std::pair<std::string, Secret<std::string>>;

  std::string endpoint;         // Empty: tracing is off. See parse_collector_url.
  std::vector<Header> headers;  // Of each request to the collector.
  double sample_ratio = 0.01;
  std::string service_name = "postrider";
  Millis timeout{10'000};
};

struct EventTypeConfig {
  std::string name;
  std::string description;
  bool operator==(const EventTypeConfig&) const = default;
};

enum class SourceKind : std::uint8_t { outbox, redis, amqp };
enum class OutboxMode : std::uint8_t { cursor, status };

/// What sources that do not state it use.
struct SourceDefaults {
  OutboxMode outbox_mode = OutboxMode::cursor;
  std::string redis_stream;
  std::string redis_group = "postrider";
};

/// A `[[sources]]` table. Members that another kind uses are empty.
struct SourceConfig {
  std::string name;  // In the API, metrics and logs.
  SourceKind kind = SourceKind::outbox;
  Secret<std::string> address;  // postgres://, redis://, rediss://, amqp:// or amqps://.
  std::string address_env;      // The variable that contained it; empty: the file did.
  std::string ca_file;          // PEM; empty: the system's authorities.
  FieldMapping mapping;         // The defaults of the kind, then `[sources.fields]`.
  std::uint32_t batch_max = 500;
  // outbox
  OutboxMode mode = OutboxMode::cursor;
  std::string table = "webhook_outbox";
  Millis keep_delivered{0};  // Of rows in status mode; zero: forever.
  // redis
  std::string stream;
  std::string group;
  std::string consumer;        // Empty: the host name and process.
  std::string json_field;      // The field whose JSON object is the message; empty: flat fields.
  Millis claim_after{60'000};  // Entries of a consumer that died are taken over.
  bool trims = false;          // Removes entries that are acknowledged.
  // amqp
  std::string queue;
  bool declares = true;           // Otherwise the queue must exist.
  bool body_is_envelope = false;  // The members of the body are fields.
  std::uint32_t prefetch = 1'000;
  // redis and amqp: where rejected messages are kept. Empty: `<stream or queue>.rejected`.
  std::string parking;

  bool operator==(const SourceConfig&) const = default;
};

enum class SmtpSecurity : std::uint8_t { starttls, tls, none };

/// The mail server for notification channels of kind email.
struct SmtpConfig {
  std::string server;  // A host name or address; empty: no e-mail is sent.
  std::uint32_t port = 587;
  SmtpSecurity security = SmtpSecurity::starttls;  // Required, not opportunistic.
  std::string user;                                // Empty: no authentication.
  std::string password_file;                       // Read when it is needed; without its newline.
  std::string password_env;                        // The variable that contains it.
  std::optional<Secret<std::string>> password;     // From that variable. Not a setting.
  std::string ca_file;                             // PEM; empty: the system's authorities.
  std::string from = "postrider@localhost";
  Millis timeout{30'000};  // Of one message, from connecting to the server's answer.

  bool operator==(const SmtpConfig&) const = default;
};

struct NotificationConfig {
  std::string templates;  // A directory whose files replace the built-in texts; empty: none.
};

/// A `[[notification_channels]]` table: a channel of the server.
struct ChannelConfig {
  std::string name;  // Unique. By which the channel is found at the next start.
  ChannelKind kind = ChannelKind::email;
  EmailTarget email;
  // Of all other kinds. The address of a chat service is a credential.
  Secret<std::string> url;
  std::string url_env;     // The variable that contained it; empty: the file did.
  std::string secret_env;  // Of kind webhook: the variable with its secret.
  std::optional<Secret<std::string>> secret;  // From that variable. Not a setting.
  std::vector<NotificationKind> kinds;
  Severity severity_min = Severity::info;
  std::vector<WebhookId> webhook_ids;
  bool send_resolved = true;
  Millis group_window{60'000};
  std::uint32_t per_hour_max = 30;
  bool active = true;

  bool operator==(const ChannelConfig&) const = default;
};

struct Config {
  std::string profile;
  std::string data = "./postrider-data";
  Secret<std::string> store;  // postgres://… Empty: the embedded store in `data`.
  std::string listen = "127.0.0.1:8080";
  std::uint32_t io_threads = 0;  // 0: the number of cores minus one, at least one.
  Millis drain_timeout{30'000};
  std::string log_level = "info";
  LogFormat log_format = LogFormat::text;
  LogAccess log_access = LogAccess::all;
  std::vector<std::string> dns_servers;  // Empty: the system's resolvers.
  bool metrics_open = true;              // For scrapers on this machine.
  std::string metrics_listen;            // A listener for monitoring only; empty: none.
  std::string public_url;                // The base URL for users; empty: the listener's address.
  bool require_known_tenants = false;
  std::string user_agent;                     // Empty: Postrider/<version>.
  std::uint32_t check_rows_per_second = 500;  // Of the background check of the store; 0: off.
  bool lax_responses = false;
  UrlPolicy targets;
  ClusterConfig cluster;
  ApiConfig api;
  TlsConfig tls;
  PortalConfig portal;
  EventConfig events;
  IdempotencyConfig idempotency;
  EngineConfig engine;
  WebhookConfig webhooks;
  RetentionConfig retention;
  SecretsConfig secrets;
  AlertConfig alerts;
  TracingConfig tracing;
  std::vector<EventTypeConfig> event_types;  // Created at start if missing.
  SourceDefaults source_defaults;
  std::vector<SourceConfig> sources;
  SmtpConfig smtp;
  NotificationConfig notifications;
  std::vector<ChannelConfig> channels;           // `[[notification_channels]]`
  std::optional<Secret<std::string>> admin_key;  // POSTRIDER_ADMIN_KEY.
};

}  // namespace postrider::config
