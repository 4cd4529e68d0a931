#include "adapters/sql/admin/operation_row.h"

#include <charconv>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "adapters/sql/select.h"
#include "adapters/sql/state_sql.h"
#include "adapters/sql/upsert.h"

namespace postrider::sql {
namespace {

// These numbers are stored on disk and must never change.
static_assert(static_cast<int>(OperationKind::retry_batch) == 0);
static_assert(static_cast<int>(OperationKind::discard) == 2);
static_assert(static_cast<int>(OperationStatus::scheduled) == 0);
static_assert(static_cast<int>(OperationStatus::running) == 1);
static_assert(static_cast<int>(OperationStatus::failed) == 4);

#define POSTRIDER_OPERATION_COLUMNS                                                     \
  "id, kind, tenant_id, status, filter_tenant_id, filter_webhook_ids, filter_event_id," \
  " filter_states, filter_event_types, filter_failure_categories,"                      \
  " filter_classification, filter_from, filter_to, priority, requests_per_second,"      \
  " start_at, repeat_every_s, total, done, skipped, failed, place, runs, due,"          \
  " created_at, started_at, finished_at, error, requeued, succeeded, dead_again,"       \
  " cancelled, requeue_finished_at, filter_resource_id"

constexpr std::string_view find_sql =
    "SELECT " POSTRIDER_OPERATION_COLUMNS " FROM operation WHERE id = ?1";

constexpr auto unfinished_sql = with_states("SELECT " POSTRIDER_OPERATION_COLUMNS R"sql(
    FROM operation WHERE id IN
    (SELECT id FROM operation WHERE status <= {last_unfinished}
        AND (status < {last_unfinished} OR requeue_finished_at IS NULL)) ORDER BY id
)sql");

constexpr auto remove_finished_sql = with_states(R"sql(
  DELETE FROM operation WHERE id IN
    (SELECT id FROM operation
      WHERE status > {last_unfinished} AND finished_at <= ?1 ORDER BY finished_at LIMIT ?2)
)sql");

std::string to_line(const WebhookId& id) { return id.to_string(); }
std::string to_line(const std::string& text) { return text; }
template <class Enum>
  requires std::is_enum_v<Enum>
std::string to_line(Enum value) {
  return std::to_string(static_cast<int>(value));
}

template <class Item>
std::string join(const std::vector<Item>& items) {
  std::string lines;
  for (const Item& item : items) {
    lines += (lines.empty() ? "" : "\n") + to_line(item);
  }
  return lines;
}

template <class Item, class Read>
std::vector<Item> split(std::string_view lines, Read read) {
  std::vector<Item> items;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    items.push_back(read(lines.substr(0, end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return items;
}

template <class Enum>
std::vector<Enum> split_numbers(std::string_view lines) {
  return split<Enum>(lines, [](std::string_view line) {
    int number = 0;
    std::from_chars(line.data(), line.data() + line.size(), number);
    return static_cast<Enum>(number);
  });
}

DeliveryFilter read_filter(const Query& query) {
  DeliveryFilter filter;
  filter.tenant_id = query.text_or_null(4);
  filter.webhook_ids = split<WebhookId>(query.bytes(5), [](std::string_view line) {
    return WebhookId::parse(line).value_or(WebhookId{});
  });
  filter.event_id = query.id_or_null<EventId>(6);
  filter.states = split_numbers<DeliveryState>(query.bytes(7));
  filter.event_types =
      split<std::string>(query.bytes(8), [](std::string_view line) { return std::string{line}; });
  filter.failure_categories = split_numbers<FailureCategory>(query.bytes(9));
  filter.classification = query.as_or_null<Classification>(10);
  filter.from = query.time_or_null(11);
  filter.to = query.time_or_null(12);
  filter.resource_id = query.text_or_null(33);
  return filter;
}

Operation read_row(const Query& query) {
  Operation operation;
  operation.id = query.id<OperationId>(0);
  operation.kind = query.as<OperationKind>(1);
  operation.tenant_id = query.text_or_null(2);
  operation.status = query.as<OperationStatus>(3);
  operation.spec.filter = read_filter(query);
  operation.spec.priority = query.as_or_null<Priority>(13);
  operation.spec.requests_per_second = query.as_or_null<std::uint32_t>(14);
  operation.spec.start_at = query.time_or_null(15);
  if (!query.is_null(16)) {
    operation.spec.repeat_every = std::chrono::seconds{query.integer(16)};
  }
  operation.total = query.as_or_null<std::uint64_t>(17);
  operation.done = query.as<std::uint64_t>(18);
  operation.skipped = query.as<std::uint64_t>(19);
  operation.failed = query.as<std::uint64_t>(20);
  operation.place = query.integer(21);
  operation.runs = query.as<std::uint32_t>(22);
  operation.due = query.time(23);
  operation.created_at = query.time(24);
  operation.started_at = query.time_or_null(25);
  operation.finished_at = query.time_or_null(26);
  operation.error = query.text(27);
  operation.outcomes = {.requeued = query.as<std::uint64_t>(28),
                        .succeeded = query.as<std::uint64_t>(29),
                        .dead_again = query.as<std::uint64_t>(30),
                        .cancelled = query.as<std::uint64_t>(31)};
  operation.requeue_finished_at = query.time_or_null(32);
  return operation;
}

Result<std::vector<Operation>> read_all(Query query) {
  std::vector<Operation> operations;
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return operations;
    }
    operations.push_back(read_row(query));
  }
}

Result<Operation> read_one(Query query) {
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return fail(Errc::not_found, "There is no such operation.");
  }
  return read_row(query);
}

}  // namespace

Result<void> write_operation(Database& database, const Operation& operation) {
  POSTRIDER_TRY(
      Statement statement,
      database.prepare(upsert_sql("operation", {.all = POSTRIDER_OPERATION_COLUMNS, .key = "id"})));
  const OperationSpec& spec = operation.spec;
  const DeliveryFilter& filter = spec.filter;
  const OperationOutcomes& outcomes = operation.outcomes;
  std::optional<std::int64_t> repeat_every_s;
  if (spec.repeat_every) {
    repeat_every_s = spec.repeat_every->count();
  }
  return statement.run(
      operation.id, operation.kind, operation.tenant_id, operation.status, filter.tenant_id,
      join(filter.webhook_ids), filter.event_id, join(filter.states), join(filter.event_types),
      join(filter.failure_categories), filter.classification, filter.from, filter.to, spec.priority,
      spec.requests_per_second, spec.start_at, repeat_every_s, operation.total, operation.done,
      operation.skipped, operation.failed, operation.place, operation.runs, operation.due,
      operation.created_at, operation.started_at, operation.finished_at, operation.error,
      outcomes.requeued, outcomes.succeeded, outcomes.dead_again, outcomes.cancelled,
      operation.requeue_finished_at, filter.resource_id);
}

Result<void> add_to_operations(Database& database, const OutcomeChanges& outcomes) {
  for (const auto& [id, change] : outcomes) {
    const Result<Operation> operation = lock_operation(database, id);
    if (operation) {
      POSTRIDER_CHECK(write_operation(database, add_outcomes(*operation, change)));
    } else if (operation.error().code != Errc::not_found) {
      return tl::make_unexpected(operation.error());
    }
  }
  return {};
}

Result<Operation> read_operation(Database& database, OperationId id) {
  POSTRIDER_TRY(Statement statement, database.prepare(find_sql));
  return read_one(statement.query(id));
}

Result<Operation> lock_operation(Database& database, OperationId id) {
  POSTRIDER_TRY(Statement statement,
                database.prepare(std::string{find_sql}.append(database.row_lock())));
  return read_one(statement.query(id));
}

Result<std::vector<Operation>> read_unfinished_operations(Database& database) {
  POSTRIDER_TRY(Statement statement, database.prepare(unfinished_sql));
  return read_all(statement.query());
}

Result<std::vector<Operation>> read_operations(Database& database, const OperationFilter& filter,
                                               const OperationPage& page) {
  Select select{"SELECT " POSTRIDER_OPERATION_COLUMNS " FROM operation"};
  if (filter.tenant_id) {
    select.where("tenant_id = ?", *filter.tenant_id);
  }
  select.where_in("kind", filter.kinds);
  select.where_in("+status", filter.statuses);
  if (page.before) {
    select.where("id < ?", *page.before);
  }
  select.append(fmt::format(" ORDER BY id DESC LIMIT {} OFFSET {}", std::int64_t{page.limit} + 1,
                            page.offset));
  POSTRIDER_TRY(Statement statement, select.prepare(database));
  return read_all(statement.query());
}

Result<std::uint32_t> remove_finished_operations(Database& database, WallTime before,
                                                 std::uint32_t limit) {
  POSTRIDER_TRY(Statement statement, database.prepare(remove_finished_sql));
  POSTRIDER_CHECK(statement.run(before, limit));
  return static_cast<std::uint32_t>(database.changes());
}

std::vector<std::string_view> operation_queries() { return {unfinished_sql, remove_finished_sql}; }

}  // namespace postrider::sql
