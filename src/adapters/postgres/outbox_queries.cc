#include "adapters/postgres/outbox_queries.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace postrider::postgres {
namespace {

/// A batch ends after this many bytes, but not before its first row. Bounds the memory that
/// large rows take.
constexpr int batch_bytes_max = 16 * 1024 * 1024;

/// A step with more rows than this is not counted, only bounded.
constexpr int counted_rows_max = 100'000;

// Costs of the disabled plans would switch the just-in-time compiler on.
constexpr std::string_view fixed_plan =
    "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)"
    ", set_config('enable_sort', 'off', true), set_config('jit', 'off', true)"
    ", set_config('max_parallel_workers_per_gather', '0', true);\n";

std::string txids(const Snapshot& snapshot) {
  return fmt::format("'{{{}}}'::xid8[]", fmt::join(snapshot.xip, ","));
}

/// The rows that are not visible in `finished`, in any order. Without an order and without a
/// condition on `position` the index on (txid, position) is the only one that fits.
std::string unseen(const OutboxTable& table, const Snapshot& finished, std::string_view columns) {
  std::string sql = fmt::format("SELECT {} FROM {} WHERE txid >= '{}'::xid8", columns,
                                qualified(table.name), finished.xmax);
  if (!finished.xip.empty()) {
    sql += fmt::format(" UNION ALL SELECT {} FROM {} WHERE txid = ANY ({})", columns,
                       qualified(table.name), txids(finished));
  }
  return sql;
}

/// `position, txid` and the columns of the message as c0, c1, …
std::string row_columns(const OutboxTable& table) {
  std::string sql = "position, txid";
  for (std::size_t index = 0; index < table.columns.size(); ++index) {
    sql += fmt::format(", {} AS c{}", table.columns[index].sql, index);
  }
  return sql;
}

/// The rows of `found` with the state of the lease, cut after batch_bytes_max.
std::string read_rows(const OutboxTable& table, const std::string& found,
                      const std::string& condition) {
  std::string names;
  std::string size = "0";
  for (std::size_t index = 0; index < table.columns.size(); ++index) {
    names += fmt::format(", s.c{}", index);
    size += fmt::format(" + coalesce(octet_length(c{}), 0)", index);
  }
  return fmt::format(
      "{fixed_plan}"
      "WITH found AS MATERIALIZED ({found}),\n"
      "sized AS (SELECT *, {size} AS size, sum({size}) OVER (ORDER BY position) AS bytes"
      " FROM found)\n"
      "SELECT pg_current_snapshot(), c.epoch,"
      " (extract(epoch FROM c.lease_until - now.time) * 1000)::bigint,"
      " (extract(epoch FROM now.time) * 1000)::bigint, t.total, t.until,"
      " s.position, s.txid{names}\n"
      "FROM {cursor} c CROSS JOIN (SELECT clock_timestamp() AS time) now"
      " CROSS JOIN (SELECT count(*) AS total, max(position) AS until FROM found) t"
      " LEFT JOIN sized s ON s.bytes - s.size < {bytes_max} AND {condition}"
      " ORDER BY s.position",
      fmt::arg("fixed_plan", fixed_plan), fmt::arg("found", found), fmt::arg("size", size),
      fmt::arg("names", names), fmt::arg("cursor", qualified(table.name, "_cursor")),
      fmt::arg("bytes_max", batch_bytes_max), fmt::arg("condition", condition));
}

/// The application may have dropped the column.
std::string writing_time(const OutboxTable& table) {
  const bool has_time =
      std::ranges::find(table.columns, "created_at", &OutboxColumn::name) != table.columns.end();
  return has_time ? "created_at AS written" : "NULL::timestamptz AS written";
}

std::string lease_end() {
  return fmt::format("clock_timestamp() + interval '{} s'", lease_seconds);
}

}  // namespace

std::string next_step(const OutboxTable& table, const Snapshot& finished, std::size_t rows_max) {
  return read_rows(table,
                   fmt::format("SELECT * FROM ({}) unseen LIMIT {}",
                               unseen(table, finished, row_columns(table)), rows_max + 1),
                   fmt::format("t.total <= {}", rows_max));
}

std::string next_page(const OutboxTable& table, const ReadPosition& position, std::int64_t end,
                      std::size_t rows_max) {
  const OpenStep& step = *position.open;
  return read_rows(
      table,
      fmt::format("SELECT {} FROM {} WHERE position > {} AND position <= {}"
                  " AND NOT pg_visible_in_snapshot(txid, '{}') AND pg_visible_in_snapshot(txid, "
                  "'{}') ORDER BY position LIMIT {}",
                  row_columns(table), qualified(table.name), step.after, end,
                  to_text(position.finished), to_text(step.snapshot), rows_max),
      "true");
}

std::string step_bounds(const OutboxTable& table, const Snapshot& finished) {
  return fmt::format(
      "{}SELECT pg_current_snapshot(),"
      " CASE WHEN f.rows > {} THEN a.first ELSE f.first END,"
      " CASE WHEN f.rows > {} THEN a.last ELSE f.last END, f.is_foreign"
      " FROM (SELECT count(*) AS rows, min(position) AS first, max(position) AS last,"
      " bool_or(txid >= pg_snapshot_xmax(pg_current_snapshot())) AS is_foreign"
      " FROM (SELECT * FROM ({}) unseen LIMIT {}) limited) f,"
      " (SELECT min(position) AS first, max(position) AS last FROM {}) a",
      fixed_plan, counted_rows_max, counted_rows_max, unseen(table, finished, "txid, position"),
      counted_rows_max + 1, qualified(table.name));
}

std::string count_unread(const OutboxTable& table, const Snapshot& finished) {
  return fmt::format(
      "{}SELECT count(*), (SELECT max(position) FROM {}) - min(position) + 1,"
      " (extract(epoch FROM clock_timestamp() - min(written)) * 1000)::bigint"
      " FROM (SELECT * FROM ({}) unseen LIMIT {}) limited",
      fixed_plan, qualified(table.name),
      unseen(table, finished, "position, " + writing_time(table)), lag_rows_max + 1);
}

std::string age_behind(const OutboxTable& table, std::int64_t position) {
  return fmt::format(
      "{}SELECT (extract(epoch FROM clock_timestamp() - written) * 1000)::bigint"
      " FROM (SELECT {} FROM {} WHERE position > {} ORDER BY position LIMIT 1) first",
      fixed_plan, writing_time(table), qualified(table.name), position);
}

std::string move_cursor(const OutboxTable& table, bool keeps_rejected) {
  const std::string kept =
      !keeps_rejected
          ? ""
          : fmt::format(
                ", kept AS (INSERT INTO {} (position, id, reason, row)"
                " SELECT o.position, o.id, r.reason, o.row"
                " FROM unnest($6::bigint[], $7::text[]) r(position, reason)"
                " CROSS JOIN LATERAL (SELECT x.position, x.id::text, row_to_json(x) AS row"
                " FROM {} x WHERE x.position = r.position LIMIT 1) o"
                " WHERE EXISTS (SELECT FROM moved) ON CONFLICT (position) DO NOTHING)",
                qualified(table.name, "_rejected"), qualified(table.name));
  return fmt::format(
      "WITH moved AS (UPDATE {} SET finished = $1::pg_snapshot, open = $2::pg_snapshot,"
      " open_after = $3::bigint, open_until = $4::bigint, lease_until = {}"
      " WHERE epoch = $5::bigint RETURNING epoch){} SELECT count(*) FROM moved",
      qualified(table.name, "_cursor"), lease_end(), kept);
}

std::string take_lease(const OutboxTable& table) {
  return fmt::format(
      "UPDATE {0} c SET node = $1, source = $2, epoch = c.epoch + 1, lease_until = {1},"
      " cluster = coalesce(c.cluster, s.cluster)"
      " FROM (SELECT system_identifier::text AS cluster FROM pg_control_system()) s"
      " WHERE c.node IS NULL OR c.node = $1 OR c.lease_until < clock_timestamp()"
      " RETURNING c.epoch, c.finished, c.open, c.open_after, c.open_until,"
      " c.cluster <> s.cluster, pg_current_snapshot()",
      qualified(table.name, "_cursor"), lease_end());
}

std::string renew_lease(const OutboxTable& table) {
  return fmt::format("UPDATE {} SET lease_until = {} WHERE epoch = $1::bigint",
                     qualified(table.name, "_cursor"), lease_end());
}

std::string release_lease(const OutboxTable& table) {
  return fmt::format("UPDATE {} SET node = NULL, lease_until = 'epoch' WHERE epoch = $1::bigint",
                     qualified(table.name, "_cursor"));
}

std::string bucket_state(const OutboxTable& table) {
  std::string rows;
  for (const char* suffix : {"_0", "_1", "_2"}) {
    rows += fmt::format(", (SELECT max(position) - min(position) + 1 FROM {})",
                        qualified(table.name, suffix));
  }
  return fmt::format(
      "SELECT bucket, extract(epoch FROM clock_timestamp() - since)::bigint{} FROM {}", rows,
      qualified(table.name, "_bucket"));
}

std::string use_bucket(const OutboxTable& table, int bucket) {
  return fmt::format("UPDATE {} SET bucket = {}, since = clock_timestamp()",
                     qualified(table.name, "_bucket"), bucket);
}

std::string empty_bucket(const OutboxTable& table, int bucket, const Snapshot& finished) {
  const std::string name = qualified(table.name, fmt::format("_{}", bucket));
  const std::string unread = fmt::format(
      "EXISTS (SELECT FROM {0} WHERE txid >= '{1}'::xid8)"
      " OR EXISTS (SELECT FROM {0} WHERE txid = ANY ({2}))",
      name, finished.xmax, txids(finished));
  // The lock waits for every transaction that wrote to the bucket. Only then does the second look
  // see all rows, because it takes a new snapshot in this isolation level.
  return fmt::format(
      "SET LOCAL transaction_isolation = 'read committed';\n"
      "SET LOCAL lock_timeout = '50ms';\n"
      "{0}"
      "DO $empty$ BEGIN\n"
      "IF {1} THEN RETURN; END IF;\n"
      "LOCK TABLE {2} IN ACCESS EXCLUSIVE MODE;\n"
      "IF {1} THEN RETURN; END IF;\n"
      "TRUNCATE {2};\n"
      "END $empty$",
      fixed_plan, unread, name);
}

}  // namespace postrider::postgres
