#include "core/model/notification_channel.h"

namespace postrider {
namespace {

constexpr std::string_view operation_finished_name = "operation_finished";
constexpr std::string_view test_name = "test";

}  // namespace

std::string_view to_string(NotificationKind kind) {
  switch (kind.what) {
    case NotificationKind::What::operation_finished:
      return operation_finished_name;
    case NotificationKind::What::test:
      return test_name;
    case NotificationKind::What::alert:
      break;
  }
  return to_string(kind.alert);
}

std::optional<NotificationKind> parse_notification_kind(std::string_view text) {
  if (text == operation_finished_name) {
    return NotificationKind::operation_finished();
  }
  if (text == test_name) {
    return NotificationKind::test();
  }
  const std::optional<AlertKind> kind = parse_alert_kind(text);
  return kind ? std::optional{NotificationKind::of(*kind)} : std::nullopt;
}

Severity severity_of(NotificationKind kind) {
  return kind.what == NotificationKind::What::alert ? severity_of(kind.alert) : Severity::info;
}

const std::vector<NotificationKind>& choosable_kinds() {
  static const std::vector<NotificationKind> all = [] {
    std::vector<NotificationKind> kinds;
    for (std::size_t index = 0; index < alert_kind_count; ++index) {
      const auto kind = static_cast<AlertKind>(index);
      if (kind != AlertKind::circuit_recovered) {
        kinds.push_back(NotificationKind::of(kind));
      }
    }
    kinds.push_back(NotificationKind::operation_finished());
    return kinds;
  }();
  return all;
}

const TenantId& owner_of(const NotificationChannel& channel) {
  static const TenantId server{reserved_tenant};
  return channel.tenant_id ? *channel.tenant_id : server;
}

}  // namespace postrider
