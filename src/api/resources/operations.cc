#include "api/json/json_body.h"
#include "api/json/list_answer.h"
#include "api/json/operation_json.h"
#include "api/resources/audit.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

struct OperationQuery {
  OperationFilter filter;
  OperationPage page;
};

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
  POSTRIDER_TRY(const IdPage page, read_id_page(query, ListKind::operations));
  asked.page = {.limit = page.limit, .offset = page.offset};
  if (page.before) {
    asked.page.before = OperationId{*page.before};
  }
  return asked;
}

/// The port returns one item more than the limit if there are more.
Result<ListedById<Operation>> read_operations(Reader& reader, const OperationQuery& asked) {
  ListedById<Operation> page;
  POSTRIDER_TRY(page.items, reader.operations->list(asked.filter, asked.page));
  if (page.items.size() > asked.page.limit) {
    page.items.resize(asked.page.limit);
    page.next = page.items.back().id.bytes;
  }
  return page;
}

Awaitable<Result<Operation>> find_operation(OwnedQueries queries, OperationId id) {
  const auto query = [id](Reader& reader) { return reader.operations->find(id); };
  auto pending = queries.read(query);
  co_return co_await std::move(pending);
}

Reply answer(const Context& context, OperationId id, const Result<Operation>& operation) {
  if (operation) {
    return json_answer(200, write_operation(*operation, context.services.clock.now().wall));
  }
  return tl::make_unexpected(to_problem(operation.error(), "operation", id.to_string()));
}

}  // namespace

Awaitable<Reply> list_operations(Context context, HttpRequest request) {
  const auto write = [now = context.services.clock.now().wall](const ListedById<Operation>& page) {
    const auto write_item = [now](JsonWriter& writer, const Operation& operation) {
      write_operation(writer, operation, now);
    };
    return write_list(page, ListKind::operations, write_item);
  };
  return answer_list(std::move(context), read_query(request), read_operations, write);
}

Awaitable<Reply> get_operation(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const OperationId id, path_id<OperationId>(request, "id", "operation"));
  auto pending = find_operation(context.queries(), id);
  const Result<Operation> found = co_await std::move(pending);
  co_return answer(context, id, found);
}

Awaitable<Reply> cancel_operation(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const OperationId id, path_id<OperationId>(request, "id", "operation"));
  POSTRIDER_CO_CHECK(check_no_parameters(request));
  auto pending_found = find_operation(context.queries(), id);
  const Result<Operation> found = co_await std::move(pending_found);
  if (!found) {
    co_return answer(context, id, found);
  }
  AuditEntry entry = audit_entry(context, {.action = "operation.cancel",
                                           .subject = id.to_string(),
                                           .tenant_id = found->tenant_id.value_or(TenantId{})});
  auto pending = context.services.operations.cancel_operation(id, std::move(entry));
  const Result<Operation> cancelled = co_await std::move(pending);
  co_return answer(context, id, cancelled);
}

}  // namespace postrider::api
