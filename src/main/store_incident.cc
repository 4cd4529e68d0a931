#include "main/store_incident.h"

#include <string>
#include <vector>

#include <spdlog/spdlog.h>

#include "core/json/json_string.h"
#include "core/json/json_text.h"

#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

Result<void> audit(Store& store, const StoreIncident& incident, WallTime now) {
  AuditEntry entry;
  entry.at = now;
  entry.action = incident.kind == StoreIncident::Kind::data_loss ? "store.data_loss_accepted"
                                                                 : "store.restored";
  entry.detail = "{\"found\":";
  append_json_string(entry.detail, incident.detail);
  entry.detail += '}';
  return store.audit->append(entry);
}

Result<void> resolve_active(Store& store, WallTime now) {
  POSTRIDER_TRY(const std::vector<Alert> active, store.alerts->load_active());
  for (const Alert& alert : active) {
    if (alert.subject.kind == AlertKind::store_data_lost) {
      POSTRIDER_CHECK(store.alerts->resolve(alert.id, now));
    }
  }
  return {};
}

Result<void> raise(Store& store, const StoreIncident& incident, AlertId id, WallTime now) {
  Alert alert;
  alert.id = id;
  alert.subject = {.kind = AlertKind::store_data_lost, .webhook_id = std::nullopt};
  alert.raised_at = now;
  alert.detail = incident.detail + " The server was started with --accept-data-loss.";
  return store.alerts->raise(alert);
}

}  // namespace

Result<void> record_incident(Store& store, AlertId alert_id, WallTime now) {
  POSTRIDER_CHECK(resolve_active(store, now));
  if (!store.incident) {
    return {};
  }
  const StoreIncident& incident = *store.incident;
  POSTRIDER_CHECK(audit(store, incident, now));
  if (incident.kind == StoreIncident::Kind::restored) {
    spdlog::warn("store.restored detail=\"{}\"", log_safe(incident.detail));
    return {};
  }
  spdlog::error("store.data_loss_accepted detail=\"{}\"", log_safe(incident.detail));
  return raise(store, incident, alert_id, now);
}

}  // namespace postrider
