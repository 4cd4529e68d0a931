// An alert: a problem of a webhook, a tenant or the server that a person must know about or fix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/event.h"

namespace postrider {

/// `circuit_recovered` is announced but not stored: it resolves the preceding `circuit_opened`.
enum class AlertKind : std::uint8_t {
  circuit_opened,
  circuit_recovered,
  webhook_disabled,
  dead_letters,
  dns_failing,
  secret_old,
  store_failing,
  webhook_failing,         // A webhook's failure rate is too high for too long.
  circuit_stays_open,      // A circuit has been open for too long.
  dead_letters_waiting,    // A tenant has too many dead letters.
  success_low,             // The success rate of the whole server is too low.
  queue_deep,              // Too many deliveries are waiting.
  pool_busy,               // Too many requests are in flight.
  permanent_failure,       // Deliveries of a webhook became dead letters. One alert per hour.
  total_dead_letters,      // Too many new dead letters of the whole server.
  dead_letter_share,       // Too large a share of all deliveries become dead letters.
  total_failures,          // The failure rate of the whole server is too high for too long.
  p99_high,                // One attempt in a hundred takes too long.
  server_resources_short,  // Attempts wait for descriptors, ports or memory of the server.
  store_corrupt,           // A check of the store found damaged pages.
  store_data_lost,         // The server was started although the store had lost transactions.
  source_failing,          // A source of events cannot be connected.
  messages_rejected,       // Messages of a source cannot become events. One alert per hour.
  notifications_failing    // A notification channel of the tenant or of the server fails.
};
constexpr std::size_t alert_kind_count = 24;

[[nodiscard]] std::string_view to_string(AlertKind kind);
[[nodiscard]] std::optional<AlertKind> parse_alert_kind(std::string_view text);

enum class Severity : std::uint8_t { info, warning, critical };

[[nodiscard]] std::string_view to_string(Severity severity);
[[nodiscard]] std::optional<Severity> parse_severity(std::string_view text);
[[nodiscard]] Severity severity_of(AlertKind kind);

/// True if alerts of this kind concern a tenant as a whole, not one webhook or a source. Those
/// about notifications may also concern the server.
[[nodiscard]] constexpr bool is_about_tenant(AlertKind kind) {
  return kind == AlertKind::dead_letters_waiting || kind == AlertKind::notifications_failing;
}

/// True if an active alert of this kind counts further cases.
[[nodiscard]] constexpr bool counts_on(AlertKind kind) {
  return kind == AlertKind::permanent_failure || kind == AlertKind::messages_rejected ||
         kind == AlertKind::notifications_failing;
}

enum class AlertUnit : std::uint8_t { count, percent, ms, days };

[[nodiscard]] std::string_view to_string(AlertUnit unit);

/// What was measured, and the limit that it passed.
struct AlertMeasure {
  double count = 0;
  double limit = 0;
  AlertUnit unit = AlertUnit::count;

  bool operator==(const AlertMeasure&) const = default;
};

/// Identifies what an alert is about. A subject has at most one active alert.
struct AlertSubject {
  AlertKind kind = AlertKind::circuit_opened;
  std::optional<WebhookId> webhook_id;
  /// Set only for an alert about a tenant as a whole.
  std::optional<TenantId> tenant_id = std::nullopt;
  /// The name of a source of events. If none of these is set, the alert is about the server.
  std::optional<std::string> source = std::nullopt;

  auto operator<=>(const AlertSubject&) const = default;
};

struct Alert {
  AlertId id;
  AlertSubject subject;
  std::optional<TenantId> tenant_id;  // The affected tenant. None: the server.
  WallTime raised_at;
  std::optional<WallTime> resolved_at;  // None: active.
  std::string detail;                   // A sentence. Never contains a secret (P11).
  std::optional<AlertMeasure> measure;  // When it was raised or last counted on.
  // Of the webhook when the alert was raised. The URL is as `shown_url` returns it.
  std::optional<std::string> webhook_name;
  std::optional<std::string> webhook_url;

  bool operator==(const Alert&) const = default;
};

}  // namespace postrider
