// A notification channel: where the server tells people about alerts and finished operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/alert.h"
#include "core/model/event.h"

namespace postrider {

enum class ChannelKind : std::uint8_t { email, webhook, slack, teams };

constexpr EnumNames<ChannelKind, ChannelKind::teams> channel_kinds{
    {"email", "webhook", "slack", "teams"}};
[[nodiscard]] inline std::string_view to_string(ChannelKind kind) {
  return channel_kinds.name(kind);
}

/// What a notification is about: an alert of some kind, a finished operation, or nothing but a test
/// of the channel.
struct NotificationKind {
  enum class What : std::uint8_t { alert, operation_finished, test };
  What what = What::alert;
  AlertKind alert = AlertKind::circuit_opened;  // Only of an alert.

  [[nodiscard]] static constexpr NotificationKind of(AlertKind kind) {
    return {.what = What::alert, .alert = kind};
  }
  [[nodiscard]] static constexpr NotificationKind operation_finished() {
    return {.what = What::operation_finished};
  }
  [[nodiscard]] static constexpr NotificationKind test() { return {.what = What::test}; }

  auto operator<=>(const NotificationKind&) const = default;
};

/// The name of the alert's kind, `operation_finished` or `test`.
[[nodiscard]] std::string_view to_string(NotificationKind kind);
[[nodiscard]] std::optional<NotificationKind> parse_notification_kind(std::string_view text);

/// The severity of the alert; `info` for the others.
[[nodiscard]] Severity severity_of(NotificationKind kind);

/// The kinds that a channel can choose, in the order of their documentation. `circuit_recovered` is
/// not among them: it is told as the resolution of `circuit_opened`.
[[nodiscard]] const std::vector<NotificationKind>& choosable_kinds();

/// The recipients of a channel of kind email.
struct EmailTarget {
  std::vector<std::string> to;  // See email_address.h.
  bool to_owner = false;        // The `owner_email` of the webhook.
  bool to_contacts = false;     // The `contacts` of the tenant.

  bool operator==(const EmailTarget&) const = default;
};

struct NotificationChannel {
  ChannelId id;
  std::optional<TenantId> tenant_id;  // nullopt: the server's.
  std::string name;
  ChannelKind kind = ChannelKind::email;
  EmailTarget email;                    // Only of kind email.
  std::optional<WebhookId> webhook_id;  // Of all other kinds: the webhook that the channel owns.
  std::vector<NotificationKind> kinds;  // That it wants; empty: all.
  Severity severity_min = Severity::info;
  std::vector<WebhookId> webhook_ids;  // That it wants to hear about; empty: all, and the server.
  bool send_resolved = true;
  Millis group_window{60'000};
  std::uint32_t per_hour_max = 30;
  bool active = true;
  bool configured = false;  // Comes from the settings; not changed over the API.
  WallTime created_at;
  WallTime updated_at;

  bool operator==(const NotificationChannel&) const = default;
};

/// Who a channel belongs to in the API, the audit log and for its webhook: its tenant, or the
/// reserved tenant of the server.
[[nodiscard]] const TenantId& owner_of(const NotificationChannel& channel);

// Limits of what a channel may ask for.
constexpr std::size_t channel_name_bytes_max = 200;
constexpr std::size_t channel_addresses_max = 20;  // `to` of a channel, `contacts` of a tenant.
constexpr std::size_t channel_webhooks_max = 100;
constexpr Millis group_window_max = std::chrono::hours{1};
constexpr std::uint32_t per_hour_limit = 1'000;

}  // namespace postrider
