// The names and columns of an outbox in the database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

#include "adapters/postgres/connection.h"

namespace postrider::postgres {

struct TableName {
  std::string schema;  // Empty: found through the search path.
  std::string name;

  bool operator==(const TableName&) const = default;
};

/// `table` or `schema.table`: letters, digits and underscores, so that the names of what belongs to
/// the table can be derived from it. Fails with invalid.
[[nodiscard]] Result<TableName> parse_table_name(std::string_view text);

/// As SQL text. `suffix` makes the name of a table or function that belongs to the outbox.
[[nodiscard]] std::string qualified(const TableName& table, std::string_view suffix = {});
/// The same without the schema.
[[nodiscard]] std::string unqualified(const TableName& table, std::string_view suffix = {});

/// A column that is part of the message.
struct OutboxColumn {
  std::string name;
  std::string sql;  // Its text. Times as RFC 3339.
  bool is_json = false;
};

[[nodiscard]] OutboxColumn outbox_column(const std::string& name, std::string_view type);

/// The error that says which command makes the table.
[[nodiscard]] tl::unexpected<Error> unsuitable_table(const TableName& table, std::string_view mode,
                                                     std::string_view why);

struct OutboxTable {
  TableName name;
  std::uint32_t oid = 0;
  std::vector<OutboxColumn> columns;
  bool is_utf8 = true;  // The database can store any text.
  /// The reader can be woken. Not through a connection pool, whose sessions lose locks and LISTEN,
  /// and not if transactions can be prepared, which PostgreSQL refuses for those that notify.
  bool notifies = true;
};

/// Reads what the source must know of the table. Fails with unavailable, with a sentence that says
/// what to run, if the table was not made by `postrider outbox init` or a privilege is missing.
[[nodiscard]] Result<OutboxTable> inspect_outbox(Connection& connection, const TableName& name);

}  // namespace postrider::postgres
