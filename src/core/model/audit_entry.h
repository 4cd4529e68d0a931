// One entry of the audit log: who changed what.
#pragma once

#include <string>

#include "core/base/time.h"
#include "core/model/event.h"

namespace postrider {

struct AuditEntry {
  WallTime at;
  std::string actor = "system";  // An API key's id, or `system` for the server's own changes.
  std::string actor_name;
  std::string remote_ip;
  std::string request_id;
  std::string action;         // Noun and verb: `webhook.update`.
  std::string subject;        // The id of what was changed.
  TenantId tenant_id;         // The tenant that owns the subject.
  std::string detail = "{}";  // A JSON object. Never a secret (P11).

  bool operator==(const AuditEntry&) const = default;
};

}  // namespace postrider
