#include "adapters/postgres/store/retention/months.h"

#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "adapters/sql/state_sql.h"

namespace postrider::postgres {
namespace {

using sql::with_states;

constexpr std::string_view set_waits_sql =
    "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)";

// A drop can deadlock with a transaction that uses the tables in another order.
constexpr int drop_tries_max = 2;

// Nodes whose clocks are behind may still add rows to a month that has ended by the database's
// clock.
constexpr Millis month_grace = std::chrono::hours{24};

// Months of which all three tables have a partition, with the estimated numbers of rows.
constexpr std::string_view months_sql = R"sql(
  SELECT right(e.relname, 7), greatest(e.reltuples, 0)::bigint, greatest(d.reltuples, 0)::bigint,
         greatest(a.reltuples, 0)::bigint
    FROM pg_inherits i
    JOIN pg_class e ON e.oid = i.inhrelid
    JOIN pg_class d ON d.oid = to_regclass('delivery_' || right(e.relname, 7))
    JOIN pg_class a ON a.oid = to_regclass('attempt_' || right(e.relname, 7))
   WHERE i.inhparent = 'event'::regclass
   ORDER BY e.relname
)sql";

// $1 and $2 are the first id of the month and of the next one, $3 is the time now, $4 the latest
// completion of an expired dead letter or null.
//
// The partition of the month is searched by name, so that its index on events is used.
constexpr auto month_is_needed_sql = with_states(R"sql(
  SELECT EXISTS (SELECT FROM waiting WHERE event_id >= $1 AND event_id < $2)
      OR EXISTS (SELECT FROM waiting WHERE id >= $1 AND id < $2)
      OR EXISTS (SELECT FROM fanout WHERE event_id >= $1 AND event_id < $2)
      OR EXISTS (SELECT FROM claim WHERE event_id >= $1 AND event_id < $2 AND expires_at > $3)
      OR EXISTS (SELECT FROM source_row WHERE event_id >= $1 AND event_id < $2)
      OR EXISTS (SELECT FROM delivery WHERE id < $1 AND event_id >= $1 AND event_id < $2)
      OR EXISTS (SELECT FROM delivery WHERE id >= $2 AND event_id >= $1 AND event_id < $2)
      OR EXISTS (SELECT FROM delivery_MONTH WHERE event_id < $1)
      OR EXISTS (SELECT FROM delivery_MONTH WHERE event_id >= $2)
      OR EXISTS (SELECT FROM delivery_MONTH
                  WHERE state = {dead_letter} AND NOT coalesce(completed_at <= $4, false))
)sql");

constexpr auto dead_letters_sql = with_states(R"sql(
  SELECT tenant_id, count(*) FROM delivery
   WHERE id >= $1 AND id < $2 AND state = {dead_letter} GROUP BY tenant_id
)sql");

// In the order in which most transactions of the ledger use the tables.
constexpr std::string_view lock_tables_sql =
    "LOCK TABLE ONLY delivery, ONLY event, ONLY attempt IN ACCESS EXCLUSIVE MODE";

constexpr std::string_view partitions_sql = R"sql(
  SELECT i.inhparent::regclass::text, c.relname, right(c.relname, 7), pg_table_size(c.oid),
         (extract(epoch FROM now()) * 1000)::bigint
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent IN ('event'::regclass, 'delivery'::regclass, 'attempt'::regclass)
   ORDER BY right(c.relname, 7)
)sql";

struct ExpiredMonth {
  Month month;
  Removed estimate;
};

struct Partition {
  std::string table;
  std::string name;
  std::int64_t rows_moved_max = 0;
};

void be_brief(Session& session, const DropLimits& limits) {
  session.queue(set_waits_sql, Parameters::of(std::to_string(limits.lock_max.count()),
                                              std::to_string(limits.search_max.count())));
}

/// Runs `body` in a transaction with short timeouts. Returns nullopt if it was ended by one.
template <class Body>
auto transact_briefly(Writer& writer, const DropLimits& limits, const Body& body)
    -> Result<std::optional<typename std::invoke_result_t<Body>::value_type>> {
  std::string sqlstate;
  auto result = writer.transact([&] {
    Session& session = writer.session();
    be_brief(session, limits);
    auto done = body();
    if (!done) {
      sqlstate = session.sqlstate();
    }
    return done;
  });
  const bool gave_way = sqlstate == "55P03" || sqlstate == "57014" || sqlstate == "40P01";
  if (!result && gave_way && writer.usable()) {
    return std::nullopt;
  }
  return result.map([](auto value) { return std::optional{std::move(value)}; });
}

/// Queues a lock that no vacuum can share. `names` are table names separated by commas.
void keep_vacuums_out(Session& session, const std::string& names, const DropLimits& limits) {
  const std::string wait = std::to_string(limits.vacuum_max.count());
  session.queue(set_waits_sql, Parameters::of(wait, wait));
  session.queue_once(fmt::format("LOCK TABLE {} IN SHARE UPDATE EXCLUSIVE MODE", names));
  be_brief(session, limits);
}

Parameters bounds_of(const Month& month) {
  return Parameters::of(month.first_id(), month.end_id());
}

/// Replaces MONTH by the name of the month.
std::string for_month(std::string_view sql, const Month& month) {
  std::string text{sql};
  const std::string name = month.name();
  constexpr std::string_view place = "MONTH";
  for (std::size_t at = 0; (at = text.find(place, at)) != std::string::npos;) {
    text.replace(at, place.size(), name);
  }
  return text;
}

Result<bool> is_needed(Session& session, const Month& month, const RetentionCutoffs& cutoffs) {
  POSTRIDER_TRY(const Rows rows,
                session.run_once(for_month(month_is_needed_sql, month),
                                 bounds_of(month).add(cutoffs.now).add(cutoffs.dead_letters)));
  return rows.boolean(0, 0);
}

/// The oldest month that is not needed.
Result<std::optional<ExpiredMonth>> find_expired_month(Session& session,
                                                       const RetentionCutoffs& cutoffs) {
  POSTRIDER_TRY(const Rows rows, session.run(months_sql));
  for (int row = 0; row < rows.count(); ++row) {
    const std::optional<Month> month = parse_month(rows.text(row, 0));
    // An id is not older than its event.
    if (!month || month->end() > *cutoffs.events) {
      continue;
    }
    POSTRIDER_TRY(const bool needed, is_needed(session, *month, cutoffs));
    if (!needed) {
      return ExpiredMonth{.month = *month,
                          .estimate = {.events = rows.as<std::uint64_t>(row, 1),
                                       .deliveries = rows.as<std::uint64_t>(row, 2),
                                       .attempts = rows.as<std::uint64_t>(row, 3),
                                       .dead_letters = {}}};
    }
  }
  return std::nullopt;
}

/// Returns nullopt if it is needed after all.
Result<std::optional<Removed>> drop_month(Writer& writer, const ExpiredMonth& expired,
                                          const RetentionCutoffs& cutoffs,
                                          const DropLimits& limits) {
  Session& session = writer.session();
  const std::string partitions =
      fmt::format("event_{0}, delivery_{0}, attempt_{0}", expired.month.name());
  keep_vacuums_out(session, partitions, limits);
  session.queue(lock_tables_sql);
  POSTRIDER_TRY(const bool needed, is_needed(session, expired.month, cutoffs));
  if (needed) {
    return std::nullopt;
  }
  POSTRIDER_TRY(const Rows dead, session.run(dead_letters_sql, bounds_of(expired.month)));
  Removed removed = expired.estimate;
  for (int row = 0; row < dead.count(); ++row) {
    removed.dead_letters[dead.text(row, 0)] = dead.as<std::uint64_t>(row, 1);
  }
  session.queue_once("DROP TABLE " + partitions);
  POSTRIDER_CHECK(writer.exchange_and_commit());
  return removed;
}

Result<std::vector<Partition>> past_partitions(Session& session, const DropLimits& limits) {
  POSTRIDER_TRY(const Rows rows, session.run(partitions_sql));
  std::vector<Partition> partitions;
  for (int row = 0; row < rows.count(); ++row) {
    const std::optional<Month> month = parse_month(rows.text(row, 2));
    if (month && month->end() + month_grace <= rows.time(row, 4)) {
      const bool is_large = rows.integer(row, 3) >= limits.large_bytes;
      partitions.push_back({.table = rows.text(row, 0),
                            .name = rows.text(row, 1),
                            .rows_moved_max = is_large ? limits.rows_moved_max : 0});
    }
  }
  return partitions;
}

Result<bool> is_unused(Session& session, const Partition& partition) {
  const std::string key = partition.table == "attempt" ? "delivery_id" : "id";
  POSTRIDER_TRY(const Rows rows,
                session.run_once(fmt::format("SELECT count(*) FROM (SELECT FROM {} ORDER BY {} "
                                             "LIMIT {}) found",
                                             partition.name, key, partition.rows_moved_max + 1)));
  return rows.integer(0, 0) <= partition.rows_moved_max;
}

Result<bool> drop_partition(Writer& writer, const Partition& partition, const DropLimits& limits) {
  Session& session = writer.session();
  keep_vacuums_out(session, partition.name, limits);
  session.queue_once(fmt::format("LOCK TABLE ONLY {} IN ACCESS EXCLUSIVE MODE", partition.table));
  session.queue_once(fmt::format("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", partition.name));
  POSTRIDER_TRY(const bool unused, is_unused(session, partition));
  if (!unused) {
    return false;
  }
  session.queue_once(
      fmt::format("ALTER TABLE {} DETACH PARTITION {}", partition.table, partition.name));
  session.queue_once(
      fmt::format("INSERT INTO {} SELECT * FROM {}", partition.table, partition.name));
  session.queue_once(fmt::format("DROP TABLE {}", partition.name));
  POSTRIDER_CHECK(writer.exchange_and_commit());
  return true;
}

}  // namespace

std::optional<Month> parse_month(std::string_view name) {
  Month month;
  const char* const begin = name.data();
  if (name.size() != 7 || name[4] != '_' ||
      std::from_chars(begin, begin + 4, month.year).ptr != begin + 4 ||
      std::from_chars(begin + 5, begin + 7, month.month).ptr != begin + 7 || month.name() != name ||
      month.year < 1970 || month.month < 1 || month.month > 12) {
    return std::nullopt;
  }
  return month;
}

Result<std::optional<Removed>> remove_expired_month(Writer& writer, const RetentionCutoffs& cutoffs,
                                                    const DropLimits& limits) {
  if (!cutoffs.events) {
    return std::nullopt;
  }
  POSTRIDER_TRY(const auto found, transact_briefly(writer, limits, [&] {
                  return find_expired_month(writer.session(), cutoffs);
                }));
  if (!found || !*found) {
    return std::nullopt;
  }
  for (int tries = 0; tries < drop_tries_max; ++tries) {
    POSTRIDER_TRY(const auto dropped, transact_briefly(writer, limits, [&] {
                    return drop_month(writer, **found, cutoffs, limits);
                  }));
    if (dropped) {
      return *dropped;
    }
  }
  return std::nullopt;
}

Result<bool> drop_unused_partition(Writer& writer, const DropLimits& limits) {
  POSTRIDER_TRY(const std::vector<Partition> partitions,
                writer.transact([&] { return past_partitions(writer.session(), limits); }));
  for (const Partition& partition : partitions) {
    POSTRIDER_TRY(const std::optional<bool> unused, transact_briefly(writer, limits, [&] {
                    return is_unused(writer.session(), partition);
                  }));
    if (!unused.value_or(false)) {
      continue;
    }
    for (int tries = 0; tries < drop_tries_max; ++tries) {
      POSTRIDER_TRY(const std::optional<bool> dropped, transact_briefly(writer, limits, [&] {
                      return drop_partition(writer, partition, limits);
                    }));
      if (dropped) {
        return *dropped;
      }
    }
    return false;
  }
  return false;
}

}  // namespace postrider::postgres
