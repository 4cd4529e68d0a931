// Something a person must know or act on: a webhook in trouble, a tenant, or the server itself.
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

/// `circuit_recovered` is told, not kept: it resolves the `circuit_opened` before it.
enum class AlertKind : std::uint8_t {
  circuit_opened,
  circuit_recovered,
  webhook_disabled,
  dead_letters,
  dns_failing,
  secret_old,
  store_failing,
  webhook_failing,       // Too large a share of a webhook's attempts fails, for too long.
  circuit_stays_open,    // For too long.
  dead_letters_waiting,  // Too many of one tenant.
  success_low,           // Too small a share of everyone's attempts succeeds.
  queue_deep,            // Too many deliveries wait.
  pool_busy              // Too many requests are under way.
};
constexpr std::size_t alert_kind_count = 13;

[[nodiscard]] std::string_view to_string(AlertKind kind);
[[nodiscard]] std::optional<AlertKind> parse_alert_kind(std::string_view text);

enum class Severity : std::uint8_t { info, warning, critical };

[[nodiscard]] std::string_view to_string(Severity severity);
[[nodiscard]] Severity severity_of(AlertKind kind);

/// Of a tenant as a whole, rather than of one webhook or of the server.
[[nodiscard]] constexpr bool is_about_tenant(AlertKind kind) {
  return kind == AlertKind::dead_letters_waiting;
}

/// What an alert is about. There is at most one active alert of a subject.
struct AlertSubject {
  AlertKind kind = AlertKind::circuit_opened;
  std::optional<WebhookId> webhook_id;
  /// Of an alert about a tenant as a whole. Neither this nor a webhook: the server itself.
  std::optional<TenantId> tenant_id = std::nullopt;

  auto operator<=>(const AlertSubject&) const = default;
};

struct Alert {
  AlertId id;
  AlertSubject subject;
  std::optional<TenantId> tenant_id;  // Whose trouble it is; none: the server's.
  WallTime raised_at;
  std::optional<WallTime> resolved_at;  // None: active.
  std::string detail;                   // A sentence. Never a secret (P11).

  bool operator==(const Alert&) const = default;
};

}  // namespace postrider
