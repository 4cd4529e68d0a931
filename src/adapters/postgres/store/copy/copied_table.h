// Adds rows to a table of the database that a copy writes, and reads them for verification. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "ports/store_copy.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

struct TableColumn {
  std::string name;
  ElementType type = ElementType::text;
};

/// The columns that a copy has: all except those that are left to the server (order_index.h).
[[nodiscard]] Result<std::vector<TableColumn>> read_table_columns(Session& session,
                                                                  std::string_view table);

[[nodiscard]] CopyKind kind_of(ElementType type);

/// The quoted names, separated by commas: `"id", "timestamp"`.
[[nodiscard]] std::string column_list(const std::vector<TableColumn>& columns);

/// Rows that are added to a table by one statement.
class RowBatch {
 public:
  RowBatch(std::string_view table, std::vector<TableColumn> columns);

  /// Fails with corrupt if a value does not fit its column.
  [[nodiscard]] Result<void> add(const CopyRow& row);
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// The approximate size of the statement's parameters.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Queues the statement, if there is a row, and empties the batch.
  void queue(Session& session);

 private:
  [[nodiscard]] Result<void> add_value(const CopyRow& row, std::size_t column);
  [[nodiscard]] tl::unexpected<Error> misfit(std::size_t column) const;
  void clear();

  std::string table_;
  std::vector<TableColumn> columns_;
  std::string sql_;
  std::vector<Array> values_;
  std::size_t rows_ = 0;
  std::size_t bytes_ = 0;
};

/// A row that was read with the columns of `column_list`. Its texts are unescaped.
class StoredRow final : public CopyRow {
 public:
  StoredRow(const Rows& rows, int row, const std::vector<TableColumn>& columns)
      : rows_(rows), row_(row), columns_(columns) {}

  [[nodiscard]] bool is_null(int column) const override { return rows_.is_null(row_, column); }
  [[nodiscard]] std::int64_t integer(int column) const override {
    return rows_.integer(row_, column);
  }
  [[nodiscard]] double real(int column) const override { return rows_.real(row_, column); }
  [[nodiscard]] std::string_view bytes(int column) const override;

 private:
  const Rows& rows_;
  int row_;
  const std::vector<TableColumn>& columns_;
  mutable std::string text_;  // The text that `bytes` returned last.
};

}  // namespace postrider::postgres
