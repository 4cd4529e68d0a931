#include "adapters/postgres/store/history/history_data.h"

#include <utility>

#include <fmt/format.h>

#include "core/stored/attempt_detail.h"

#include "adapters/postgres/store/database/migrations.h"
#include "adapters/postgres/store/database/partitions.h"

namespace postrider::postgres {
namespace {

// As HistoryData::made_id.
constexpr std::string_view made_id_sql = R"sql(
  CREATE FUNCTION made_id(at bigint, number bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS
  $$ SELECT (lpad(to_hex(at), 12, '0') || lpad(to_hex(number), 20, '0'))::uuid $$
)sql";

constexpr std::string_view events_sql = R"sql(
  INSERT INTO event (id, sequence, tenant_id, type, priority, "timestamp", created_at,
                     delivery_count, idempotency_key, resource_id, metadata, data)
  SELECT made_id(at, n), n, tenant, type, 1, at, at, (n % 100 <> 1)::integer, '',
         CASE WHEN n % 10 = 0 THEN 'resource_' || n % 1000 END, '{{}}', '{{"n": 1}}'
    FROM {}
)sql";

constexpr std::string_view final_sql = R"sql(
  INSERT INTO delivery (id, sequence, event_id, webhook_id, tenant_id, type, priority, state,
                        trigger, due, attempt_count, budget_used, created_at, updated_at,
                        completed_at, last_failure, dead_classification, dead_reason)
  SELECT made_id(at, n), n, made_id(at, n), webhook, tenant, type, 1,
         CASE WHEN dead THEN 3 ELSE 2 END, 0, at, 1, 1, at, at, at, CASE WHEN dead THEN 0 END,
         CASE WHEN dead THEN 1 END, CASE WHEN dead THEN 'max_attempts_exceeded' END
    FROM {}
)sql";

constexpr std::string_view waiting_sql = R"sql(
  INSERT INTO waiting (id, sequence, event_id, webhook_id, tenant_id, type, priority, state,
                       trigger, due, attempt_count, budget_used, created_at, updated_at, ordered,
                       shard)
  SELECT made_id(at, n), n, made_id(at, n), webhook, tenant, 'order.paid', 1, n % 2, 0, at, 0, 0,
         at, at, false, 0
    FROM {}
)sql";

constexpr std::string_view attempts_sql = R"sql(
  INSERT INTO attempt (delivery_id, number, id, webhook_id, tenant_id, recorded, executed_at,
                       duration_us, trigger, scheduled_at, failure_category, http_status, detail)
  SELECT made_id(at, n), 1, made_id(at, n), webhook, tenant, n, at, 2500, 0, at,
         CASE WHEN dead THEN 0 END, 200, $1
    FROM {}
)sql";

constexpr std::string_view source_rows_sql = R"sql(
  INSERT INTO source_row (source, row_id, event_id, event, generation, revision, settled)
  SELECT 'orders', 'row ' || n, made_id(at, n), n, 0, 0, (n <= {})::integer
    FROM {}
)sql";

/// One row for each number, with what the rows of the tables have in common.
std::string numbers(int first, int last) {
  return fmt::format(
      "(SELECT n, made_id(1, n % 50) AS webhook, 'tenant_' || n % 10 AS tenant, n % 100 = 0 AS "
      "dead,"
      " CASE WHEN n % 100 = 0 THEN 'user.born' ELSE 'order.paid' END AS type,"
      " {} + n * 1000 AS at FROM generate_series({}::bigint, {}) AS n) s",
      to_unix_ms(HistoryData::epoch), first, last);
}

}  // namespace

HistoryData::HistoryData() {
  Result<Session> opened = Session::open({.address = schema_.address()}, interruption_);
  EXPECT_TRUE(opened.has_value()) << opened.error().message;
  session_ = std::make_unique<Session>(*std::move(opened));
  const Result<Uuid> migrated = migrate(*session_);
  EXPECT_TRUE(migrated.has_value()) << migrated.error().message;
  const Result<void> partitions = ensure_partitions(*session_, epoch);
  EXPECT_TRUE(partitions.has_value()) << partitions.error().message;
}

void HistoryData::fill() {
  std::string detail;
  stored::pack_detail({}, 0, detail);
  run(std::string{made_id_sql});
  run(fmt::format(events_sql, numbers(1, delivery_count)));
  run(fmt::format(final_sql, numbers(1, final_count)));
  run(fmt::format(waiting_sql, numbers(final_count + 1, delivery_count)));
  run(fmt::format(attempts_sql, numbers(1, final_count)), Parameters::of(Blob{detail}));
  run("ANALYZE event, delivery, attempt, waiting");
}

void HistoryData::add_source_rows() {
  run(fmt::format(source_rows_sql, final_count, numbers(1, delivery_count)));
  run("ANALYZE source_row");
}

Rows HistoryData::run(const std::string& sql, Parameters parameters) {
  Result<Rows> rows = session_->run_once(sql, std::move(parameters));
  EXPECT_TRUE(rows.has_value()) << sql << ": " << rows.error().message;
  return rows ? *std::move(rows) : Rows{};
}

std::shared_ptr<ReadConnection> HistoryData::connect() const {
  Result<std::shared_ptr<ReadConnection>> opened = ReadConnection::open(options());
  EXPECT_TRUE(opened.has_value()) << opened.error().message;
  return opened ? *std::move(opened) : nullptr;
}

Uuid HistoryData::made_id(std::int64_t time, int number) {
  Uuid uuid{};
  for (std::size_t i = 0; i < 6; ++i) {
    uuid[5 - i] = static_cast<std::uint8_t>(time >> (8 * i));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    uuid[15 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return uuid;
}

}  // namespace postrider::postgres
