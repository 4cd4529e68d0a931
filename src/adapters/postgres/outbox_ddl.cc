#include "adapters/postgres/outbox_ddl.h"

#include <span>

#include "core/base/assert.h"
#include "core/base/embedded_file.h"

#include "adapters/postgres/connection.h"
#include "adapters/postgres/outbox_table.h"

namespace postrider {
namespace postgres {

/// Written by CMake from ddl/*.sql.
std::span<const EmbeddedFile> embedded_ddl();

}  // namespace postgres

namespace {

using postgres::TableName;

std::string_view file(std::string_view name) {
  for (const EmbeddedFile& candidate : postgres::embedded_ddl()) {
    if (candidate.name == name) {
      return candidate.text;
    }
  }
  POSTRIDER_ASSERT(!"the file is listed in CMakeLists.txt");
  return {};
}

/// `postrider_emit` for the default table, so that it can be called by its short name.
TableName emit_function(const TableName& table) {
  const bool is_default = table.name == OutboxDdlOptions{}.table;
  return {.schema = table.schema, .name = is_default ? "postrider_emit" : table.name + "_emit"};
}

/// The value of a placeholder, which is the text between two at signs:
/// - `outbox…`: the table, or what belongs to it and has this suffix,
/// - `'outbox…'`: the same as a literal,
/// - `%outbox…`: the same without the schema,
/// - `emit`: the function that writes an event,
/// - `emit.`: the same before the name of one of its parameters.
std::string value_of(std::string_view placeholder, const TableName& table) {
  constexpr std::string_view outbox = "outbox";
  if (placeholder == "emit") {
    return qualified(emit_function(table));
  }
  if (placeholder == "emit.") {
    return unqualified(emit_function(table)) + ".";
  }
  if (placeholder.starts_with('%')) {
    return unqualified(table, placeholder.substr(1 + outbox.size()));
  }
  if (placeholder.starts_with('\'')) {
    const std::string_view name = placeholder.substr(1, placeholder.size() - 2);
    return postgres::Connection::literal(qualified(table, name.substr(outbox.size())));
  }
  POSTRIDER_ASSERT(placeholder.starts_with(outbox));
  return qualified(table, placeholder.substr(outbox.size()));
}

std::string fill_in(std::string_view text, const TableName& table) {
  std::string filled;
  while (true) {
    const std::size_t start = text.find('@');
    filled += text.substr(0, start);
    if (start == text.npos) {
      return filled;
    }
    const std::size_t end = text.find('@', start + 1);
    POSTRIDER_ASSERT(end != text.npos);
    filled += value_of(text.substr(start + 1, end - start - 1), table);
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<std::string> outbox_cursor_ddl(const OutboxDdlOptions& options) {
  POSTRIDER_TRY(const TableName table, postgres::parse_table_name(options.table));
  const bool is_native = options.columns == OutboxColumns::native;
  std::string ddl;
  for (const std::string_view part :
       {"cursor_1_bucket", is_native ? "cursor_2_native" : "cursor_2_debezium", "cursor_3_reading",
        is_native ? "cursor_4_native" : "cursor_4_debezium"}) {
    ddl += fill_in(file(part), table);
  }
  return ddl;
}

Result<std::string> outbox_status_ddl(const std::string& table) {
  POSTRIDER_TRY(const TableName name, postgres::parse_table_name(table));
  return fill_in(file("status_1_table"), name);
}

Result<void> apply_outbox_ddl(const Secret<std::string>& address, const std::string& ddl) {
  const postgres::Interruption never;
  // Locks of writers can take a while.
  POSTRIDER_TRY(
      postgres::Connection connection,
      postgres::Connection::open({.address = address, .statement_max = Millis{60'000}}, never));
  POSTRIDER_TRY(const postgres::TextRows done, connection.script(ddl));
  return {};
}

}  // namespace postrider
