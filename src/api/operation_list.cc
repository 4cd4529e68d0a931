#include <cstring>

#include "api/answers.h"
#include "api/audit.h"
#include "api/json_body.h"
#include "api/operation_json.h"
#include "api/pagination.h"
#include "api/resources.h"

namespace postrider::api {
namespace {

struct OperationQuery {
  OperationFilter filter;
  OperationPage page;
};

std::optional<OperationId> to_id(std::string_view place) {
  OperationId id;
  if (place.size() != id.bytes.size()) {
    return std::nullopt;
  }
  std::memcpy(id.bytes.data(), place.data(), place.size());
  return id;
}

Parsed<OperationQuery> read_query(const HttpRequest& request) {
  QueryReader query{request};
  OperationQuery asked;
  asked.filter.tenant_id = query.text("tenant_id");
  asked.filter.kinds = query.list_of(
      "kind", [](std::string_view word) { return operation_kinds.find(word); },
      "retry_batch, replay or discard");
  asked.filter.statuses = query.list_of(
      "status", [](std::string_view word) { return operation_statuses.find(word); },
      "scheduled, running, completed, cancelled or failed");
  const Parsed<PageQuery> page = read_page(query, ListKind::operations);
  if (std::optional<Problem> fault = query.fault()) {
    return tl::make_unexpected(*std::move(fault));
  }
  if (!page) {
    return tl::make_unexpected(page.error());
  }
  asked.page = {.limit = page->limit, .offset = page->offset};
  if (page->place) {
    asked.page.before = to_id(*page->place);
    if (!asked.page.before) {
      return tl::make_unexpected(invalid_cursor());
    }
  }
  return asked;
}

Awaitable<Result<Operation>> find_operation(Context context, OperationId id) {
  const auto query = [id](Reader& reader) { return reader.operations->find(id); };
  auto pending = context.service->read(query);
  co_return co_await std::move(pending);
}

HttpResponse answer(const Context& context, OperationId id, const Result<Operation>& operation) {
  if (operation) {
    return json_answer(200, write_operation(*operation, context.service->now().wall));
  }
  if (operation.error().code == Errc::not_found) {
    return render(not_found("operation", id.to_string()));
  }
  return render(to_problem(operation.error()));
}

}  // namespace

Awaitable<HttpResponse> list_operations(Context context, HttpRequest request) {
  const Parsed<OperationQuery> asked = read_query(request);
  if (!asked) {
    co_return render(asked.error());
  }
  const auto query = [asked = *asked](Reader& reader) {
    return reader.operations->list(asked.filter, asked.page);
  };
  auto pending = context.service->read(query);
  const Result<std::vector<Operation>> listed = co_await std::move(pending);
  if (!listed) {
    co_return render(to_problem(listed.error()));
  }
  const WallTime now = context.service->now().wall;
  co_return json_answer(200, write_operation_list(*listed, asked->page.limit, now));
}

Awaitable<HttpResponse> get_operation(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const Parsed<OperationId> id = path_id<OperationId>(request, "id", "operation");
  if (!id) {
    co_return render(id.error());
  }
  auto pending = find_operation(context, *id);
  const Result<Operation> found = co_await std::move(pending);
  co_return answer(context, *id, found);
}

Awaitable<HttpResponse> cancel_operation(Context context, HttpRequest request) {
  const Parsed<OperationId> id = path_id<OperationId>(request, "id", "operation");
  if (!id) {
    co_return render(id.error());
  }
  if (const std::optional<Problem> problem = parameter_problem(request)) {
    co_return render(*problem);
  }
  auto pending_found = find_operation(context, *id);
  const Result<Operation> found = co_await std::move(pending_found);
  if (!found) {
    co_return answer(context, *id, found);
  }
  AuditEntry entry = audit_entry(context, {.action = "operation.cancel",
                                           .subject = id->to_string(),
                                           .tenant_id = found->tenant_id.value_or(TenantId{})});
  auto pending = context.service->cancel_operation(*id, std::move(entry));
  const Result<Operation> cancelled = co_await std::move(pending);
  co_return answer(context, *id, cancelled);
}

}  // namespace postrider::api
