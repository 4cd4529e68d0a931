#include "adapters/sqlite/database/store_check.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/table_walk.h"

namespace postrider {
namespace {

using sqlite::Database;
using sqlite::TableShape;
using sqlite::WalkedPart;

// Bounds one step when rows are large.
constexpr std::uint64_t step_bytes_max = 4ul * 1024 * 1024;
// A disk that cannot read a place again and again is damaged there.
constexpr std::uint32_t failures_in_row_max = 5;

class SqliteStoreCheck final : public StoreCheck {
 public:
  explicit SqliteStoreCheck(SqliteOptions options) : options_(std::move(options)) {}

  Result<CheckStep> check_some(std::uint32_t rows_max) override {
    Result<CheckStep> step = check_next(rows_max);
    if (step) {
      failures_in_row_ = 0;
      return step;
    }
    if (step.error().code != Errc::corrupt && ++failures_in_row_ < failures_in_row_max) {
      return step;
    }
    failures_in_row_ = 0;
    return skip_table(fmt::format("The table {} cannot be read. {}",
                                  table_.empty() ? "sqlite_schema" : table_, step.error().message));
  }

 private:
  Result<CheckStep> check_next(std::uint32_t rows_max) {
    POSTRIDER_TRY(Database database,
                  Database::open({.file = sqlite::database_file(options_.directory),
                                  .access = sqlite::Access::read,
                                  .vfs = options_.vfs}));
    POSTRIDER_CHECK(database.execute("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF"));
    POSTRIDER_TRY(const std::vector<TableShape> tables, sqlite::read_tables(database));
    const TableShape* const table = find(tables);
    if (table == nullptr) {
      return end_pass();
    }
    table_ = table->name;
    POSTRIDER_TRY(const WalkedPart part,
                  sqlite::walk_table(database, *table, after_,
                                     {.rows_max = rows_max, .bytes_max = step_bytes_max}));
    if (part.damaged) {
      return skip_table(
          fmt::format("The index {} of the table {} is damaged: it cannot be read, or rows are "
                      "missing from it.",
                      *part.damaged, table_));
    }
    CheckStep step;
    step.rows = part.rows;
    if (part.last) {
      after_ = part.last;
    } else {
      end_table();
    }
    return step;
  }

  /// The table that is being checked, or the next one.
  [[nodiscard]] const TableShape* find(const std::vector<TableShape>& tables) const {
    for (const TableShape& table : tables) {
      if (after_ ? table.name >= table_ : table.name > done_) {
        return &table;
      }
    }
    return nullptr;
  }

  void end_table() {
    done_ = table_;
    table_.clear();
    after_.reset();
  }

  CheckStep end_pass() {
    done_.clear();
    table_.clear();
    after_.reset();
    CheckStep step;
    step.pass_ended = true;
    return step;
  }

  CheckStep skip_table(std::string damage) {
    CheckStep step;
    // Without a schema there is nothing to skip to.
    if (table_.empty()) {
      step = end_pass();
    } else {
      end_table();
    }
    step.damage = std::move(damage) + " Run `postrider doctor --deep`, and restore a backup.";
    return step;
  }

  SqliteOptions options_;
  std::string done_;   // The last table that is finished. Empty: none.
  std::string table_;  // The table that is being checked.
  std::optional<sqlite::Key> after_;
  std::uint32_t failures_in_row_ = 0;
};

}  // namespace

std::unique_ptr<StoreCheck> make_sqlite_store_check(const SqliteOptions& options) {
  return std::make_unique<SqliteStoreCheck>(options);
}

}  // namespace postrider
