// Walks a table in pieces and looks up every row in every index of the table. SQLite checks the
// structure of each page that it reads; a row that its index does not have is damage too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

struct IndexShape {
  std::string name;
  std::vector<std::string> columns;
  std::string condition;  // Of a partial index; empty: all rows.
};

struct TableShape {
  std::string name;
  std::vector<std::string> key;  // The rowid or the columns of the primary key.
  int column_count = 0;
  std::vector<IndexShape> indexes;
};

/// All tables, by name.
[[nodiscard]] Result<std::vector<TableShape>> read_tables(Database& database);

/// A value of a key column.
struct KeyValue {
  enum class Kind : std::uint8_t { integer, text, blob };
  Kind kind = Kind::integer;
  std::int64_t integer = 0;
  std::string bytes;
};
using Key = std::vector<KeyValue>;

struct WalkLimits {
  std::uint32_t rows_max = 0;
  std::uint64_t bytes_max = 0;
};

/// The part of a table that one step walked.
struct WalkedPart {
  std::uint64_t rows = 0;
  std::optional<Key> last;             // The key of the last row. None: there were no more rows.
  std::optional<std::string> damaged;  // The index that lacks rows.
};

/// Walks the rows after `after`, or from the first one. Runs in one snapshot. Fails with corrupt if
/// a page is damaged.
[[nodiscard]] Result<WalkedPart> walk_table(Database& database, const TableShape& table,
                                            const std::optional<Key>& after, WalkLimits limits);

}  // namespace postrider::sqlite
