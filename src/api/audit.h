// What a handler tells the audit log about the change it makes.
#pragma once

#include <string>

#include "ports/journal.h"

#include "api/context.h"

namespace postrider::api {

struct Deed {
  std::string action;   // `webhook.update`
  std::string subject;  // The id of what is changed.
  TenantId tenant_id = {};
  std::string detail = "{}";  // A JSON object. Never a secret.
};

[[nodiscard]] AuditEntry audit_entry(const Context& context, Deed deed);

}  // namespace postrider::api
