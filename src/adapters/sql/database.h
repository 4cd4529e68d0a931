// A connection to any SQL database. Used by one thread at a time.
//
// SQLite 3.40 and PostgreSQL 14 both understand the SQL of this folder: `ON CONFLICT`, `coalesce`,
// `CASE`, parameters ?1, ?2, … whose type follows from a column or a CAST. Enumerations and
// booleans are integers, ids are bound as blobs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "core/base/result.h"

#include "adapters/sql/statement.h"

namespace postrider::sql {

class Database {
 public:
  virtual ~Database() = default;

  /// `sql` is a single statement, and one of a bounded number of texts, because the database may
  /// cache it. It need not outlive the call.
  [[nodiscard]] virtual Result<Statement> prepare(std::string_view sql) = 0;
  /// For SQL that is built at run time.
  [[nodiscard]] virtual Result<Statement> prepare_once(std::string_view sql) {
    return prepare(sql);
  }
  /// The number of rows that the last statement changed.
  [[nodiscard]] virtual std::int64_t changes() const = 0;
  /// Append to a SELECT of rows that the transaction changes later, so that no other transaction
  /// changes them in between: " FOR UPDATE". Empty if only one transaction writes at a time.
  [[nodiscard]] virtual std::string_view row_lock() const = 0;

  struct StatementToPrepare {
    Statement* statement;
    std::string_view sql;
  };
  [[nodiscard]] Result<void> prepare_all(std::initializer_list<StatementToPrepare> statements) {
    for (const StatementToPrepare& each : statements) {
      POSTRIDER_TRY(*each.statement, prepare(each.sql));
    }
    return {};
  }

 protected:
  Database() = default;
  Database(const Database&) = default;
  Database& operator=(const Database&) = default;
};

}  // namespace postrider::sql
