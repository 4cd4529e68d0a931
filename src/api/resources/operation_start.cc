#include "api/resources/operation_start.h"

#include <algorithm>
#include <utility>

#include "api/json/operation_json.h"
#include "api/resources/answers.h"
#include "api/resources/api_shares.h"
#include "api/resources/audit.h"
#include "api/resources/operation_count.h"

namespace postrider::api {

Awaitable<Reply> start_operation(Context context, OperationRequest request) {
  const WallTime now = context.services.clock.now().wall;
  if (!request.spec.filter.tenant_id) {
    request.spec.filter.tenant_id = context.caller.tenant_id;
  }
  Operation operation;
  operation.id = OperationId{context.services.ids.new_uuid()};
  operation.kind = request.kind;
  operation.tenant_id = request.spec.filter.tenant_id;
  operation.due = std::max(request.spec.start_at.value_or(now), now);
  operation.created_at = now;
  operation.spec = std::move(request.spec);
  if (request.dry_run) {
    auto counting = count_operation(std::move(context), std::move(operation));
    co_return co_await std::move(counting);
  }
  AuditEntry entry =
      audit_entry(context, {.action = std::move(request.action),
                            .subject = operation.id.to_string(),
                            .tenant_id = operation.tenant_id.value_or(TenantId{}),
                            .detail = "{\"filter\":" + write_filter(operation.spec.filter) + "}"});
  auto pending = context.services.operations.start_operation(
      std::move(operation), share_owner(context.caller), std::move(entry), context.request_key);
  const Result<Operation> started = co_await std::move(pending);
  if (!started) {
    co_return tl::make_unexpected(to_problem(started.error()));
  }
  co_return json_answer(202, write_operation(*started, now));
}

}  // namespace postrider::api
