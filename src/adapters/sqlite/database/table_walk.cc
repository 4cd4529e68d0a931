#include "adapters/sqlite/database/table_walk.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "adapters/sqlite/database/snapshot.h"

namespace postrider::sqlite {
namespace {

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

/// `a.x, a.y` with a prefix.
std::string list_of(const std::vector<std::string>& columns, const std::string& prefix) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const std::string& column : columns) {
    names.push_back(prefix + column);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// `(?1, ?2)`, beginning with the given number.
std::string parameters(std::size_t count, std::size_t first) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(fmt::format("?{}", first + i));
  }
  return fmt::format("({})", fmt::join(names, ", "));
}

/// What follows WHERE in the definition of an index.
std::string condition_of(const std::string& sql) {
  const std::size_t where = sql.find("WHERE ");
  return where == std::string::npos ? std::string{} : sql.substr(where + 6);
}

Result<std::vector<IndexShape>> read_indexes(Database& database, const std::string& table,
                                             bool has_rowid) {
  std::vector<IndexShape> indexes;
  POSTRIDER_TRY(Statement list,
                database.prepare("SELECT l.name, ifnull(s.sql, '') FROM pragma_index_list(?1) l"
                                 "  JOIN sqlite_schema s ON s.name = l.name"
                                 " WHERE ?2 OR l.origin <> 'pk' ORDER BY l.name"));
  POSTRIDER_TRY(Statement columns,
                database.prepare("SELECT name FROM pragma_index_xinfo(?1)"
                                 " WHERE key = 1 AND name IS NOT NULL ORDER BY seqno"));
  Query query = list.query(table, has_rowid);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return indexes;
    }
    IndexShape index{
        .name = query.text(0), .columns = {}, .condition = condition_of(query.text(1))};
    Query column = columns.query(index.name);
    for (;;) {
      POSTRIDER_TRY(const bool more, column.next());
      if (!more) {
        break;
      }
      index.columns.push_back(quoted(column.text(0)));
    }
    indexes.push_back(std::move(index));
  }
}

Result<TableShape> read_table(Database& database, const std::string& name, bool has_rowid) {
  TableShape table{.name = name, .key = {}, .column_count = 0, .indexes = {}};
  POSTRIDER_TRY(Statement columns,
                database.prepare("SELECT name, pk FROM pragma_table_xinfo(?1) ORDER BY pk, cid"));
  Query query = columns.query(name);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      break;
    }
    ++table.column_count;
    if (!has_rowid && query.integer(1) > 0) {
      table.key.push_back(quoted(query.text(0)));
    }
  }
  if (has_rowid) {
    table.key = {"rowid"};
  }
  POSTRIDER_TRY(table.indexes, read_indexes(database, name, has_rowid));
  return table;
}

void bind_key(Statement& statement, const Key& key, int first) {
  for (const KeyValue& value : key) {
    switch (value.kind) {
      case KeyValue::Kind::integer:
        statement.bind_at(first, value.integer);
        break;
      case KeyValue::Kind::text:
        statement.bind_at(first, value.bytes);
        break;
      case KeyValue::Kind::blob:
        statement.bind_at(first, Blob{value.bytes});
        break;
    }
    ++first;
  }
}

/// Reads a row that begins with the columns of the key and then their types.
Key key_of(const Query& query, int columns) {
  Key key;
  for (int column = 0; column < columns; ++column) {
    const std::string_view type = query.bytes(columns + column);
    KeyValue value;
    if (type == "integer") {
      value.integer = query.integer(column);
    } else {
      value.kind = type == "text" ? KeyValue::Kind::text : KeyValue::Kind::blob;
      value.bytes = query.text(column);
    }
    key.push_back(std::move(value));
  }
  return key;
}

/// Reads whole rows, including what overflows into other pages.
Result<WalkedPart> walk_rows(Database& database, const TableShape& table,
                             const std::optional<Key>& after, WalkLimits limits) {
  const std::size_t keys = table.key.size();
  const std::string key = list_of(table.key, "");
  POSTRIDER_TRY(
      Statement statement,
      database.prepare(fmt::format(
          "SELECT {}, typeof({}), * FROM {} NOT INDEXED {} ORDER BY {} LIMIT {}", key,
          fmt::join(table.key, "), typeof("), quoted(table.name),
          after ? fmt::format("WHERE ({}) > {}", key, parameters(keys, 1)) : std::string{}, key,
          limits.rows_max)));
  if (after) {
    bind_key(statement, *after, 1);
  }
  WalkedPart part;
  std::uint64_t bytes = 0;
  Query query = statement.query();
  while (bytes < limits.bytes_max) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      break;
    }
    ++part.rows;
    for (int i = 0; i < table.column_count; ++i) {
      bytes += query.bytes(static_cast<int>(2 * keys) + i).size();
    }
    part.last = key_of(query, static_cast<int>(keys));
  }
  return part;
}

struct KeyRange {
  const std::optional<Key>& after;  // nullopt: from the first row.
  const Key& last;
};

/// False if the index lacks a row of the range that it should have.
Result<bool> index_is_complete(Database& database, const TableShape& table, const IndexShape& index,
                               const KeyRange& range) {
  const auto& [after, last] = range;
  const std::string key = list_of(table.key, "");
  std::vector<std::string> same;
  same.reserve(table.key.size() + index.columns.size());
  for (const std::string& column : table.key) {
    same.push_back(fmt::format("i.{} = c.{}", column, column));
  }
  for (const std::string& column : index.columns) {
    same.push_back(fmt::format("i.{} IS c.{}", column, column));
  }
  const std::string condition = index.condition.empty() ? "1" : index.condition;
  POSTRIDER_TRY(
      Statement statement,
      database.prepare(fmt::format(
          "SELECT 1 FROM {0} c NOT INDEXED WHERE {1} ({2}) <= {3} AND ({4}) AND NOT EXISTS"
          " (SELECT 1 FROM {0} i INDEXED BY {5} WHERE ({4}) AND {6}) LIMIT 1",
          quoted(table.name),
          after ? fmt::format("({}) > {} AND", key, parameters(table.key.size(), 1)) : "", key,
          parameters(table.key.size(), 1 + (after ? table.key.size() : 0)), condition,
          quoted(index.name), fmt::join(same, " AND "))));
  if (after) {
    bind_key(statement, *after, 1);
  }
  bind_key(statement, last, 1 + static_cast<int>(after ? table.key.size() : 0));
  Query query = statement.query();
  return query.next().map([](bool missing) { return !missing; });
}

}  // namespace

Result<std::vector<TableShape>> read_tables(Database& database) {
  POSTRIDER_TRY(
      Statement list,
      database.prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main'"
                       "   AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"));
  std::vector<TableShape> tables;
  Query query = list.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return tables;
    }
    POSTRIDER_TRY(TableShape table, read_table(database, query.text(0), query.integer(1) == 0));
    tables.push_back(std::move(table));
  }
}

Result<WalkedPart> walk_table(Database& database, const TableShape& table,
                              const std::optional<Key>& after, WalkLimits limits) {
  return snapshot(database, [&]() -> Result<WalkedPart> {
    POSTRIDER_TRY(WalkedPart part, walk_rows(database, table, after, limits));
    for (const IndexShape& index : table.indexes) {
      if (!part.last || part.damaged) {
        break;
      }
      Result<bool> complete = index_is_complete(database, table, index, {after, *part.last});
      if (!complete && complete.error().code != Errc::corrupt) {
        return tl::make_unexpected(complete.error());
      }
      if (!complete || !*complete) {
        part.damaged = index.name;
      }
    }
    return part;
  });
}

}  // namespace postrider::sqlite
