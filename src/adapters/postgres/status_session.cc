#include "adapters/postgres/status_session.h"

namespace postrider::postgres {
namespace {

tl::unexpected<Error> not_connected() {
  return fail(Errc::unavailable, "The database is not connected.");
}

}  // namespace

Result<void> StatusSession::connect() {
  connection_.reset();
  const Result<void> opened = open();
  if (!opened) {
    return lost(opened.error());
  }
  return {};
}

Result<void> StatusSession::open() {
  POSTRIDER_TRY(const TableName name, parse_table_name(options_.table));
  POSTRIDER_TRY(
      connection_,
      Connection::open({.address = options_.address, .ca_file = options_.ca_file}, interruption_));
  POSTRIDER_TRY(table_, inspect_status_outbox(*connection_, name));
  return {};
}

Result<Rows> StatusSession::execute(const std::string& sql, const Parameters& parameters) {
  return connection_ ? checked(connection_->execute(sql, parameters)) : not_connected();
}

Result<Rows> StatusSession::script(const std::string& sql) {
  return connection_ ? checked(connection_->script(sql)) : not_connected();
}

Result<Rows> StatusSession::checked(Result<Rows> rows) {
  if (!rows) {
    return lost(rows.error());
  }
  return rows;
}

tl::unexpected<Error> StatusSession::lost(const Error& error) {
  connection_.reset();
  return fail(Errc::unavailable, error.message);
}

}  // namespace postrider::postgres
