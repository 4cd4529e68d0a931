#include "api/resources/audit.h"

#include <utility>

namespace postrider::api {

AuditEntry audit_entry(const Context& context, AuditedAction action) {
  const Caller& caller = context.caller;
  return {.at = context.services.clock.now().wall,
          .actor = caller.key ? acting_key(caller.key->key()).to_string() : std::string{},
          .actor_name = caller.key ? caller.key->key().name : std::string{},
          .remote_ip = caller.remote_ip,
          .request_id = caller.request_id,
          .action = std::move(action.action),
          .subject = std::move(action.subject),
          .tenant_id = std::move(action.tenant_id),
          .detail = std::move(action.detail)};
}

}  // namespace postrider::api
