#include "adapters/postgres/status_table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "adapters/postgres/storable_text.h"

namespace postrider::postgres {
namespace {

constexpr std::array<std::string_view, 10> required = {"status",
                                                       "attempts",
                                                       "last_error",
                                                       "next_attempt_at",
                                                       "created_at",
                                                       "delivered_at",
                                                       "postrider_node",
                                                       "postrider_claimed_until",
                                                       "postrider_handed_over_at",
                                                       "postrider_generation"};

/// Read by Postrider itself, and not part of the message.
bool is_own(std::string_view column) {
  return (column != "created_at" && std::ranges::find(required, column) != required.end()) ||
         column == "webhook_url" || column == "secret";
}

// The condition of the partial index, what is due, and what no other node has claimed.
constexpr std::string_view due_condition =
    "status IN ('pending', 'retrying') AND postrider_handed_over_at IS NULL"
    " AND next_attempt_at <= now()"
    " AND (postrider_claimed_until IS NULL OR postrider_claimed_until < now()"
    " OR postrider_node = {})";

std::string due(const std::string& node) {
  return fmt::format(fmt::runtime(due_condition), Connection::literal(node));
}

Result<void> read_columns(Connection& connection, StatusTable& table, std::int64_t oid) {
  POSTRIDER_TRY(const TextRows rows,
                connection.execute("SELECT attname, format_type(atttypid, NULL) FROM pg_attribute"
                                   " WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped"
                                   " ORDER BY attnum",
                                   {std::to_string(oid)}));
  std::vector<std::string> names;
  for (int row = 0; row < rows.count(); ++row) {
    const std::string& name = names.emplace_back(rows.text(row, 0));
    if (name == "id") {
      table.id_type = rows.text(row, 1);
    }
    if (name == "status") {
      table.status_type = rows.text(row, 1);
    }
    if (!is_own(name)) {
      table.columns.push_back(outbox_column(name, rows.text(row, 1)));
    }
  }
  const auto has = [&](std::string_view name) { return std::ranges::count(names, name) > 0; };
  table.has_url = has("webhook_url");
  table.has_secret = has("secret");
  for (const std::string_view name : required) {
    if (!has(name)) {
      return unsuitable_table(
          table.name, "status",
          fmt::format("was not made for the mode `status`: it has no column `{}`", name));
    }
  }
  return {};
}

Result<void> check_id(Connection& connection, const StatusTable& table, std::int64_t oid) {
  POSTRIDER_TRY(const TextRows rows,
                connection.execute("SELECT EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a"
                                   " ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
                                   " WHERE i.indrelid = $1::oid AND i.indisunique AND i.indnatts ="
                                   " 1 AND i.indpred IS NULL AND a.attname = 'id')",
                                   {std::to_string(oid)}));
  if (!rows.boolean(0, 0)) {
    return unsuitable_table(table.name, "status", "has no unique column `id`");
  }
  return {};
}

Result<void> check_privileges(Connection& connection, const StatusTable& table) {
  const std::string name = qualified(table.name);
  POSTRIDER_TRY(const TextRows rows,
                connection.execute("SELECT p, current_user FROM unnest(ARRAY['SELECT', 'UPDATE'])"
                                   " p WHERE NOT has_table_privilege($1, p) LIMIT 1",
                                   {name}));
  if (rows.count() > 0) {
    return fail(Errc::unavailable,
                fmt::format("The role {2} lacks a privilege. Run `GRANT {0} ON {1} TO \"{2}\"`.",
                            rows.text(0, 0), name, rows.text(0, 1)));
  }
  return {};
}

std::string ids(const StatusTable& table, const std::vector<std::string>& texts) {
  return fmt::format("{}::text::{}[]", Connection::literal(array_text(texts)), table.id_type);
}

}  // namespace

Result<StatusTable> inspect_status_outbox(Connection& connection, const TableName& name) {
  POSTRIDER_TRY(const TextRows facts,
                connection.execute("SELECT to_regclass($1)::oid,"
                                   " current_setting('server_encoding') = 'UTF8'",
                                   {qualified(name)}));
  if (facts.is_null(0, 0)) {
    return unsuitable_table(name, "status", "does not exist");
  }
  StatusTable table{.name = name,
                    .id_type = {},
                    .status_type = {},
                    .columns = {},
                    .is_utf8 = facts.boolean(0, 1)};
  POSTRIDER_CHECK(read_columns(connection, table, facts.integer(0, 0)));
  POSTRIDER_CHECK(check_id(connection, table, facts.integer(0, 0)));
  POSTRIDER_CHECK(check_privileges(connection, table));
  return table;
}

std::string claim_rows(const StatusTable& table, const std::string& node, std::size_t rows_max) {
  std::string columns = fmt::format("{}, {}", table.has_url ? "webhook_url" : "NULL",
                                    table.has_secret ? "secret" : "NULL");
  for (const OutboxColumn& column : table.columns) {
    columns += ", " + column.sql;
  }
  // A claim that was made not long ago is not written again.
  return fmt::format(
      "BEGIN ISOLATION LEVEL READ COMMITTED;"
      "UPDATE {0} o SET postrider_node = {1},"
      "       postrider_claimed_until = now() + interval '{2} ms'"
      "  FROM (SELECT id FROM {0} WHERE {3} ORDER BY created_at, id LIMIT {4}"
      "           FOR UPDATE SKIP LOCKED) due"
      " WHERE o.id = due.id AND NOT coalesce(o.postrider_node = {1} AND"
      "       o.postrider_claimed_until > now() + interval '{5} ms', false);"
      "COMMIT;"
      "BEGIN ISOLATION LEVEL READ COMMITTED;"
      "SELECT id::text, postrider_generation, {6} FROM {0}"
      " WHERE {3} AND postrider_node = {1} AND postrider_claimed_until > now()"
      " ORDER BY created_at, id LIMIT {4} FOR UPDATE SKIP LOCKED",
      qualified(table.name), Connection::literal(node), claim_lease.count(), due(node), rows_max,
      claim_lease.count() / 2, columns);
}

std::string end_claim(const StatusTable& table, const ClaimOutcome& outcome) {
  std::string sql;
  if (!outcome.handed_over.empty()) {
    sql += fmt::format(
        "UPDATE {} SET postrider_handed_over_at = now(), postrider_claimed_until = NULL"
        " WHERE id = ANY ({});",
        qualified(table.name), ids(table, outcome.handed_over));
  }
  if (!outcome.rejected.empty()) {
    sql += fmt::format(
        "UPDATE {} o SET status = 'failed', last_error = r.reason, postrider_claimed_until = NULL"
        "  FROM unnest({}, {}::text[]) r(id, reason) WHERE o.id = r.id;",
        qualified(table.name), ids(table, outcome.rejected),
        Connection::literal(array_text(outcome.reasons)));
  }
  return sql + "COMMIT";
}

std::string count_due(const StatusTable& table, const std::string& node) {
  return fmt::format(
      "SELECT count(*), (extract(epoch FROM now() - min(since)) * 1000)::bigint"
      "  FROM (SELECT greatest(created_at, next_attempt_at) AS since FROM {} WHERE {} LIMIT {}) d",
      qualified(table.name), due(node), due_rows_max);
}

std::string write_statuses(const StatusTable& table) {
  // A row that its application has given a status of its own while it was under way keeps that. A
  // status that is not final is written only if it differs, so that nothing is written twice.
  return fmt::format(
      R"sql(
WITH w AS (
  SELECT n::int, id::{1} AS id, generation::int, state, attempts::int, nullif(error, '') AS error,
         nullif(due, '')::timestamptz AS due, nullif(done, '')::timestamptz AS done,
         state IN ('delivered', 'failed') AS is_final
    FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
         WITH ORDINALITY u(id, generation, state, attempts, error, due, done, n)
), l AS (
  SELECT o.id, o.status::text, o.attempts, o.postrider_generation AS generation,
         o.postrider_node AS node,
         o.postrider_handed_over_at IS NOT NULL AS is_under_way
    FROM {0} o WHERE o.id IN (SELECT id FROM w) FOR UPDATE SKIP LOCKED
), c AS (
  SELECT w.*,
         l.is_under_way AND l.status NOT IN ('pending', 'retrying') AS is_kept,
         CASE WHEN l.id IS NULL
                   THEN CASE WHEN EXISTS (SELECT 1 FROM {0} o WHERE o.id = w.id)
                             THEN 'locked' ELSE 'missing' END
              WHEN l.node IS DISTINCT FROM $1 THEN 'superseded'
              WHEN l.generation = w.generation
                   AND (l.is_under_way OR l.status IN ('delivered', 'failed')) THEN 'written'
              WHEN l.generation = w.generation AND l.status IN ('pending', 'retrying') THEN 'armed'
              WHEN l.generation = w.generation + 1 AND NOT l.is_under_way
                   AND l.status IN ('delivered', 'failed')
                   THEN CASE WHEN (l.status, l.attempts) = (w.state, w.attempts)
                             THEN 'repeated' ELSE 'ahead' END
              ELSE 'superseded' END AS outcome
    FROM w LEFT JOIN l ON l.id = w.id
), u AS (
  UPDATE {0} o
     SET status = CASE WHEN c.is_kept THEN o.status ELSE c.state::{2} END,
         attempts = c.attempts,
         last_error = CASE WHEN c.is_kept THEN o.last_error ELSE c.error END,
         next_attempt_at = CASE WHEN c.is_kept THEN o.next_attempt_at
                                ELSE coalesce(c.due, o.next_attempt_at) END,
         delivered_at = CASE WHEN c.is_kept THEN o.delivered_at ELSE c.done END,
         postrider_handed_over_at =
           CASE WHEN NOT c.is_final THEN coalesce(o.postrider_handed_over_at, now()) END,
         postrider_claimed_until = NULL,
         postrider_generation = o.postrider_generation + c.is_final::int
    FROM c
   WHERE o.id = c.id AND c.outcome = 'written'
     AND (c.is_final OR NOT c.is_kept AND
          (o.status::text, o.attempts, o.last_error, o.next_attempt_at)
           IS DISTINCT FROM (c.state, c.attempts, c.error, coalesce(c.due, o.next_attempt_at)))
)
SELECT n, outcome FROM c ORDER BY n
)sql",
      qualified(table.name), table.id_type, table.status_type);
}

std::string remove_delivered_rows(const StatusTable& table) {
  return fmt::format(
      "DELETE FROM {0} WHERE id IN (SELECT id FROM {0} WHERE status = 'delivered'"
      " AND delivered_at < now() - $1::bigint * interval '1 ms'"
      " AND postrider_handed_over_at IS NULL"
      " ORDER BY delivered_at LIMIT $2::bigint FOR UPDATE SKIP LOCKED)",
      qualified(table.name));
}

}  // namespace postrider::postgres
