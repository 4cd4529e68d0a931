#include "adapters/sqlite/database/deep_check.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "ports/audit.h"

#include "adapters/sql/admin/audit_reader.h"
#include "adapters/sql/state_sql.h"
#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/table_walk.h"
#include "adapters/sqlite/database/tail_check.h"

namespace postrider {
namespace {

using sqlite::Database;
using sqlite::Query;
using sqlite::Statement;
using sqlite::TableShape;

constexpr std::uint32_t audit_entries_at_once = 1'000;

constexpr auto orphans_sql = sql::with_states(R"sql(
  SELECT count(*) FROM delivery d
   WHERE d.state <= {last_waiting}
     AND (NOT EXISTS (SELECT 1 FROM event e WHERE e.sequence = d.event)
       OR NOT EXISTS (SELECT 1 FROM lane l WHERE l.lane = d.lane))
)sql");

/// Collects what is wrong. A part that cannot be checked because of damage is wrong too.
class DeepCheck {
 public:
  DeepCheck(const SqliteOptions& options, const DeepCheckProgress& progress)
      : options_(options), progress_(progress) {}

  Result<std::vector<std::string>> run() {
    POSTRIDER_CHECK(check_transactions());
    POSTRIDER_TRY(Database opened,
                  Database::open({.file = sqlite::database_file(options_.directory),
                                  .access = sqlite::Access::read,
                                  .vfs = options_.vfs}));
    const auto database = std::make_shared<Database>(std::move(opened));
    const Result<std::vector<TableShape>> tables = sqlite::read_tables(*database);
    if (!tables) {
      return note(tables.error()).map([this] { return std::move(wrong_); });
    }
    total_ = tables->size() + 4;
    for (const TableShape& table : *tables) {
      POSTRIDER_CHECK(check(table.name, [&] {
        return report(*database, fmt::format("PRAGMA integrity_check({})", table.name), table.name);
      }));
    }
    POSTRIDER_CHECK(
        check("pages", [&] { return report(*database, "PRAGMA quick_check(20)", "pages"); }));
    POSTRIDER_CHECK(check("references", [&] { return check_references(*database); }));
    POSTRIDER_CHECK(check("audit log", [&] { return check_audit(database); }));
    POSTRIDER_CHECK(check("deliveries", [&] { return check_deliveries(*database); }));
    progress_(total_, total_, "");
    return std::move(wrong_);
  }

 private:
  Result<void> check_transactions() {
    const Result<sqlite::TailCheck> tail = sqlite::check_tail(options_);
    if (!tail) {
      return note(tail.error());
    }
    if (tail->loss) {
      wrong_.push_back(*tail->loss);
    }
    return {};
  }

  template <class Body>
  Result<void> check(const std::string& name, const Body& body) {
    progress_(done_++, total_, name);
    const Result<void> done = body();
    return done ? done : note(done.error());
  }

  Result<void> note(const Error& error) {
    if (error.code != Errc::corrupt) {
      return tl::make_unexpected(error);
    }
    wrong_.push_back(error.message);
    return {};
  }

  Result<void> report(Database& database, const std::string& sql, const std::string& part) {
    POSTRIDER_TRY(Statement statement, database.prepare(sql));
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return {};
      }
      if (query.bytes(0) != "ok") {
        wrong_.push_back(fmt::format("{}: {}", part, query.text(0)));
      }
    }
  }

  Result<void> check_references(Database& database) {
    POSTRIDER_TRY(Statement statement, database.prepare("PRAGMA foreign_key_check"));
    Query query = statement.query();
    POSTRIDER_TRY(const bool found, query.next());
    if (found) {
      wrong_.push_back(fmt::format("{}: a row refers to a missing row.", query.text(0)));
    }
    return {};
  }

  Result<void> check_audit(const std::shared_ptr<Database>& database) {
    const std::unique_ptr<AuditReader> audit = sql::make_audit_reader(database, options_.digest);
    ChainWalk walk{.more = true};
    while (walk.more) {
      POSTRIDER_TRY(walk, audit->verify(walk.last, audit_entries_at_once));
    }
    if (walk.broken_at) {
      wrong_.push_back(
          fmt::format("audit log: entry {} is missing or was altered.", *walk.broken_at));
    }
    return {};
  }

  Result<void> check_deliveries(Database& database) {
    POSTRIDER_TRY(Statement statement, database.prepare(orphans_sql));
    Query query = statement.query();
    POSTRIDER_TRY(const bool found, query.next());
    if (found && query.integer(0) > 0) {
      wrong_.push_back(fmt::format("deliveries: {} waiting deliveries have no event or no lane.",
                                   query.integer(0)));
    }
    return {};
  }

  const SqliteOptions& options_;
  const DeepCheckProgress& progress_;
  std::vector<std::string> wrong_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

Result<std::vector<std::string>> check_sqlite_deeply(const SqliteOptions& options,
                                                     const DeepCheckProgress& progress) {
  std::error_code error;
  if (!std::filesystem::exists(sqlite::database_file(options.directory), error)) {
    POSTRIDER_TRY(const sqlite::TailCheck tail, sqlite::check_tail(options));
    if (tail.loss) {
      return std::vector{*tail.loss};
    }
    return fail(Errc::not_found,
                fmt::format("There is no store in {}.", options.directory.string()));
  }
  return DeepCheck{options, progress}.run();
}

}  // namespace postrider
