#include "core/alert.h"

#include "core/enum_names.h"

namespace postrider {
namespace {

constexpr EnumNames<AlertKind, AlertKind::store_failing> kind_names{
    {"circuit_opened", "circuit_recovered", "webhook_disabled", "dead_letters", "dns_failing",
     "secret_old", "store_failing"}};
static_assert(kind_names.names.size() == alert_kind_count);

constexpr EnumNames<Severity, Severity::critical> severity_names{{"info", "warning", "critical"}};

}  // namespace

std::string_view to_string(AlertKind kind) { return kind_names.name(kind); }

std::optional<AlertKind> parse_alert_kind(std::string_view text) { return kind_names.find(text); }

std::string_view to_string(Severity severity) { return severity_names.name(severity); }

Severity severity_of(AlertKind kind) {
  switch (kind) {
    case AlertKind::webhook_disabled:
    case AlertKind::store_failing:
      return Severity::critical;
    case AlertKind::circuit_opened:
    case AlertKind::dead_letters:
    case AlertKind::dns_failing:
      return Severity::warning;
    case AlertKind::circuit_recovered:
    case AlertKind::secret_old:
      break;
  }
  return Severity::info;
}

}  // namespace postrider
