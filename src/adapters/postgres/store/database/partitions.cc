#include "adapters/postgres/store/database/partitions.h"

#include <chrono>
#include <set>

#include <fmt/format.h>

#include "adapters/postgres/store/database/advisory_lock.h"

namespace postrider::postgres {
namespace {

/// This month included. If a long backup prevents new partitions for weeks, new rows still have
/// one.
constexpr int months_made = 3;

/// While this statement waits for a lock, every later user of the table waits too.
constexpr std::string_view limit_wait = "SET LOCAL lock_timeout = '200ms'";

constexpr std::string_view list_partitions =
    "SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
    " AND relispartition";

std::string text_of(const Uuid& uuid) {
  std::string text;
  for (const std::uint8_t byte : uuid) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

/// Attaching a table, unlike creating a partition, does not block other users of the parent.
void queue_partition(Session& session, std::string_view table, const Month& month) {
  const std::string name = fmt::format("{}_{}", table, month.name());
  session.queue_once(fmt::format("CREATE TABLE {} (LIKE {} INCLUDING ALL)", name, table));
  session.queue_once(
      fmt::format("ALTER TABLE {} ATTACH PARTITION {} FOR VALUES FROM ('{}') TO ('{}')", table,
                  name, text_of(month.first_id()), text_of(month.end_id())));
}

Result<void> begin(Session& session) {
  session.queue_begin(Isolation::write);
  session.queue(limit_wait);
  POSTRIDER_CHECK(session.run(lock_sql, lock_parameters(AdvisoryLock::partitions)));
  return {};
}

Result<void> make_if_missing(Session& session, std::string_view table, const Month& month) {
  POSTRIDER_CHECK(begin(session));
  POSTRIDER_TRY(const Rows found,
                session.run("SELECT to_regclass($1) IS NOT NULL",
                            Parameters::of(fmt::format("{}_{}", table, month.name()))));
  if (!found.boolean(0, 0)) {
    queue_partition(session, table, month);
  }
  POSTRIDER_CHECK(session.run("COMMIT"));
  return {};
}

/// The default partition holds rows of the month, or another session holds a lock.
bool may_be_left_out(std::string_view sqlstate) {
  return sqlstate == "23514" || sqlstate == "55P03" || sqlstate == "40P01";
}

}  // namespace

Month Month::of(WallTime time) {
  const std::chrono::sys_time<Millis> since{time.time_since_epoch()};
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(since)};
  return {.year = static_cast<int>(day.year()), .month = static_cast<unsigned>(day.month())};
}

Month Month::next() const {
  return month == 12 ? Month{.year = year + 1, .month = 1}
                     : Month{.year = year, .month = month + 1};
}

WallTime Month::begin() const {
  const std::chrono::sys_days day{std::chrono::year{year} / static_cast<int>(month) / 1};
  return WallTime{std::chrono::duration_cast<Millis>(day.time_since_epoch())};
}

Uuid Month::first_id() const {
  // A UUIDv7 begins with 48 bits of milliseconds.
  const auto ms = static_cast<std::uint64_t>(to_unix_ms(begin()));
  Uuid id{};
  for (std::size_t i = 0; i < 6; ++i) {
    id[i] = static_cast<std::uint8_t>(ms >> (8 * (5 - i)));
  }
  return id;
}

std::string Month::name() const { return fmt::format("{:04}_{:02}", year, month); }

Result<void> ensure_partitions(Session& session, WallTime now) {
  POSTRIDER_TRY(const Rows rows, session.run(list_partitions));
  std::set<std::string> existing;
  for (int row = 0; row < rows.count(); ++row) {
    existing.insert(rows.text(row, 0));
  }
  Month month = Month::of(now);
  for (int made = 0; made < months_made; ++made, month = month.next()) {
    for (const std::string_view table : partitioned_tables) {
      if (existing.contains(fmt::format("{}_{}", table, month.name()))) {
        continue;
      }
      const Result<void> done = make_if_missing(session, table, month);
      if (done) {
        continue;
      }
      const std::string sqlstate = session.sqlstate();
      if (session.in_transaction()) {
        POSTRIDER_CHECK(session.run("ROLLBACK"));
      }
      if (!may_be_left_out(sqlstate)) {
        return done;
      }
    }
  }
  return {};
}

}  // namespace postrider::postgres
