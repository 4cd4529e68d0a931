#include "core/model/alert.h"

#include "core/base/enum_names.h"

namespace postrider {
namespace {

constexpr EnumNames<AlertKind, AlertKind::notifications_failing> kind_names{{
    "circuit_opened",
    "circuit_recovered",
    "webhook_disabled",
    "dead_letters",
    "dns_failing",
    "secret_old",
    "store_failing",
    "webhook_failing",
    "circuit_stays_open",
    "dead_letters_waiting",
    "success_low",
    "queue_deep",
    "pool_busy",
    "permanent_failure",
    "total_dead_letters",
    "dead_letter_share",
    "total_failures",
    "p99_high",
    "server_resources_short",
    "store_corrupt",
    "store_data_lost",
    "source_failing",
    "messages_rejected",
    "notifications_failing",
}};
static_assert(kind_names.names.size() == alert_kind_count);

constexpr EnumNames<AlertUnit, AlertUnit::days> unit_names{{"count", "percent", "ms", "days"}};

constexpr EnumNames<Severity, Severity::critical> severity_names{{"info", "warning", "critical"}};

}  // namespace

std::string_view to_string(AlertKind kind) { return kind_names.name(kind); }

std::optional<AlertKind> parse_alert_kind(std::string_view text) { return kind_names.find(text); }

std::string_view to_string(Severity severity) { return severity_names.name(severity); }

std::optional<Severity> parse_severity(std::string_view text) { return severity_names.find(text); }

std::string_view to_string(AlertUnit unit) { return unit_names.name(unit); }

Severity severity_of(AlertKind kind) {
  switch (kind) {
    case AlertKind::webhook_disabled:
    case AlertKind::store_failing:
    case AlertKind::circuit_stays_open:
    case AlertKind::queue_deep:
    case AlertKind::store_corrupt:
    case AlertKind::store_data_lost:
    case AlertKind::source_failing:
      return Severity::critical;
    case AlertKind::circuit_opened:
    case AlertKind::dead_letters:
    case AlertKind::dns_failing:
    case AlertKind::webhook_failing:
    case AlertKind::dead_letters_waiting:
    case AlertKind::success_low:
    case AlertKind::pool_busy:
    case AlertKind::permanent_failure:
    case AlertKind::total_dead_letters:
    case AlertKind::dead_letter_share:
    case AlertKind::total_failures:
    case AlertKind::p99_high:
    case AlertKind::server_resources_short:
    case AlertKind::messages_rejected:
    case AlertKind::notifications_failing:
      return Severity::warning;
    case AlertKind::circuit_recovered:
    case AlertKind::secret_old:
      break;
  }
  return Severity::info;
}

}  // namespace postrider
