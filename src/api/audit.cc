#include "api/audit.h"

#include <utility>

namespace postrider::api {

AuditEntry audit_entry(const Context& context, Deed deed) {
  return {.at = context.service->now().wall,
          .actor = context.caller.key_id,
          .actor_name = context.caller.key_name,
          .remote_ip = context.caller.remote_ip,
          .request_id = context.caller.request_id,
          .action = std::move(deed.action),
          .subject = std::move(deed.subject),
          .tenant_id = std::move(deed.tenant_id),
          .detail = std::move(deed.detail)};
}

}  // namespace postrider::api
