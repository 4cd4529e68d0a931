#include "api/resources/operation_start.h"

#include <algorithm>
#include <utility>

#include "api/json/operation_json.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"

namespace postrider::api {

Awaitable<HttpResponse> start_operation(Context context, OperationRequest asked) {
  const WallTime now = context.service->now().wall;
  if (!asked.spec.filter.tenant_id) {
    asked.spec.filter.tenant_id = context.caller.tenant_id;
  }
  Operation operation;
  operation.id = OperationId{context.service->new_uuid()};
  operation.kind = asked.kind;
  operation.tenant_id = asked.spec.filter.tenant_id;
  operation.due = std::max(asked.spec.start_at.value_or(now), now);
  operation.created_at = now;
  operation.spec = std::move(asked.spec);
  AuditEntry entry =
      audit_entry(context, {.action = std::move(asked.action),
                            .subject = operation.id.to_string(),
                            .tenant_id = operation.tenant_id.value_or(TenantId{}),
                            .detail = "{\"filter\":" + write_filter(operation.spec.filter) + "}"});
  auto pending = context.service->start_operation(std::move(operation), std::move(entry));
  const Result<Operation> started = co_await std::move(pending);
  if (!started) {
    co_return render(to_problem(started.error()));
  }
  co_return json_answer(202, write_operation(*started, now));
}

}  // namespace postrider::api
