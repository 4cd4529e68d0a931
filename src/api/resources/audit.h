// Builds the audit entry of a request.
#pragma once

#include <string>

#include "ports/audit.h"

#include "api/resources/context.h"

namespace postrider::api {

/// The part of an audit entry that the handler knows; the rest comes from the Context.
struct AuditedAction {
  std::string action;   // `webhook.update`
  std::string subject;  // The id of the changed thing.
  TenantId tenant_id = {};
  std::string detail = "{}";  // A JSON object. Never a secret.
};

[[nodiscard]] AuditEntry audit_entry(const Context& context, AuditedAction action);

}  // namespace postrider::api
