#include "adapters/postgres/outbox_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace postrider::postgres {
namespace {

// PostgreSQL cuts names after 63 bytes. The longest suffix has eleven.
constexpr std::size_t name_size_max = 48;
// SQL functions whose body is parsed when they are made.
constexpr std::int64_t version_min = 140'000;

bool is_plain(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// No keyword of SQL looks like this, except those that start with one of these words.
bool needs_no_quotes(std::string_view name) {
  return name.find('_') != name.npos && !(name.front() >= '0' && name.front() <= '9') &&
         std::ranges::none_of(name, [](char c) { return c >= 'A' && c <= 'Z'; }) &&
         !name.starts_with("current_") && !name.starts_with("session_") &&
         !name.starts_with("system_");
}

std::string quoted(std::string_view name) {
  return needs_no_quotes(name) ? std::string{name} : Connection::identifier(name);
}

std::string shown(const TableName& table) {
  return table.schema.empty() ? table.name : table.schema + "." + table.name;
}

tl::unexpected<Error> unsuitable(const TableName& table, std::string_view why) {
  return unsuitable_table(table, "cursor", why);
}

Result<void> check_privileges(Connection& connection, const TableName& table) {
  // Every privilege that the reader uses, and nothing else.
  const std::string sql = fmt::format(
      "SELECT needed.privilege, needed.relation, current_user"
      "  FROM (VALUES ('SELECT', {0}), ('TRUNCATE', {1}), ('TRUNCATE', {2}), ('TRUNCATE', {3}),"
      "               ('SELECT', {1}), ('SELECT', {2}), ('SELECT', {3}),"
      "               ('SELECT', {4}), ('UPDATE', {4}), ('SELECT', {5}), ('UPDATE', {5}),"
      "               ('INSERT', {6}), ('SELECT', {6})) needed(privilege, relation)"
      " WHERE to_regclass(needed.relation) IS NULL"
      "    OR NOT has_table_privilege(needed.relation, needed.privilege) LIMIT 1",
      Connection::literal(qualified(table)), Connection::literal(qualified(table, "_0")),
      Connection::literal(qualified(table, "_1")), Connection::literal(qualified(table, "_2")),
      Connection::literal(qualified(table, "_cursor")),
      Connection::literal(qualified(table, "_bucket")),
      Connection::literal(qualified(table, "_rejected")));
  POSTRIDER_TRY(const TextRows missing, connection.execute(sql));
  if (missing.count() == 0) {
    return {};
  }
  const std::string relation{missing.text(0, 1)};
  POSTRIDER_TRY(const TextRows found, connection.execute("SELECT to_regclass($1)", {relation}));
  if (found.is_null(0, 0)) {
    return unsuitable(table, fmt::format("is incomplete: {} does not exist", relation));
  }
  return fail(Errc::unavailable,
              fmt::format("The role {2} lacks a privilege. Run `GRANT {0} ON {1} TO \"{2}\"`.",
                          missing.text(0, 0), relation, missing.text(0, 2)));
}

Result<void> read_columns(Connection& connection, OutboxTable& table) {
  POSTRIDER_TRY(const TextRows rows,
                connection.execute("SELECT attname, format_type(atttypid, NULL) FROM pg_attribute"
                                   " WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped"
                                   " ORDER BY attnum",
                                   {std::to_string(table.oid)}));
  std::vector<std::string> own = {"id", "position", "txid", "bucket"};
  for (int row = 0; row < rows.count(); ++row) {
    const std::string name{rows.text(row, 0)};
    if (std::erase(own, name) == 0 || name == "id") {
      table.columns.push_back(outbox_column(name, rows.text(row, 1)));
    }
  }
  if (!own.empty()) {
    return unsuitable(table.name, fmt::format("was not made for the mode `cursor`: it has no "
                                              "column `{}`",
                                              own.front()));
  }
  return {};
}

}  // namespace

tl::unexpected<Error> unsuitable_table(const TableName& table, std::string_view mode,
                                       std::string_view why) {
  return fail(Errc::unavailable,
              fmt::format("The table {0} {1}. Make it with `postrider outbox init --dsn ADDRESS "
                          "--table {0}{2} --apply`.",
                          shown(table), why, mode == "cursor" ? "" : " --mode status"));
}

OutboxColumn outbox_column(const std::string& name, std::string_view type) {
  const std::string identifier = Connection::identifier(name);
  constexpr std::string_view format = R"('YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')";
  if (type == "timestamp with time zone") {
    return {name, fmt::format("to_char({} AT TIME ZONE 'UTC', {})", identifier, format)};
  }
  if (type == "timestamp without time zone") {
    return {name, fmt::format("to_char({}, {})", identifier, format)};
  }
  return {name, identifier + "::text", type == "json" || type == "jsonb"};
}

Result<TableName> parse_table_name(std::string_view text) {
  const std::size_t dot = text.find('.');
  const std::string_view schema = dot == text.npos ? std::string_view{} : text.substr(0, dot);
  const std::string_view name = dot == text.npos ? text : text.substr(dot + 1);
  if (name.empty() || name.size() > name_size_max || !is_plain(name) || !is_plain(schema) ||
      (dot != text.npos && schema.empty()) || schema.size() > name_size_max) {
    return fail(Errc::invalid,
                fmt::format("The name of the table must be `table` or `schema.table`, with "
                            "letters, digits and underscores only, {} at most.",
                            name_size_max));
  }
  return TableName{.schema = std::string{schema}, .name = std::string{name}};
}

std::string unqualified(const TableName& table, std::string_view suffix) {
  return quoted(table.name + std::string{suffix});
}

std::string qualified(const TableName& table, std::string_view suffix) {
  return (table.schema.empty() ? "" : quoted(table.schema) + ".") + unqualified(table, suffix);
}

Result<OutboxTable> inspect_outbox(Connection& connection, const TableName& name) {
  POSTRIDER_TRY(const TextRows facts,
                connection.execute("SELECT to_regclass($1)::oid, pg_backend_pid(),"
                                   " current_setting('server_version_num'),"
                                   " current_setting('server_encoding') = 'UTF8',"
                                   " current_setting('max_prepared_transactions') = '0'",
                                   {qualified(name)}));
  if (facts.integer(0, 2) < version_min) {
    return fail(Errc::unavailable, "The outbox needs PostgreSQL 14 or newer.");
  }
  if (facts.is_null(0, 0)) {
    return unsuitable(name, "does not exist");
  }
  OutboxTable table{
      .name = name,
      .oid = static_cast<std::uint32_t>(facts.integer(0, 0)),
      .columns = {},
      .is_utf8 = facts.boolean(0, 3),
      .notifies = facts.integer(0, 1) == connection.server_pid() && facts.boolean(0, 4)};
  POSTRIDER_CHECK(read_columns(connection, table));
  POSTRIDER_CHECK(check_privileges(connection, name));
  return table;
}

}  // namespace postrider::postgres
