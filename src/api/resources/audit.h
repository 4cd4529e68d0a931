// What a handler tells the audit log about the change it makes.
#pragma once

#include <string>

#include "ports/audit.h"

#include "api/resources/context.h"

namespace postrider::api {

struct AuditedAction {
  std::string action;   // `webhook.update`
  std::string subject;  // The id of what is changed.
  TenantId tenant_id = {};
  std::string detail = "{}";  // A JSON object. Never a secret.
};

[[nodiscard]] AuditEntry audit_entry(const Context& context, AuditedAction action);

}  // namespace postrider::api
