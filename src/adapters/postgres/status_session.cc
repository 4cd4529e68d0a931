#include "adapters/postgres/status_session.h"

#include <string_view>
#include <utility>

namespace postrider::postgres {
namespace {

constexpr std::string_view lock_not_available = "55P03";

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

Result<TextRows> StatusSession::execute(const std::string& sql, const TextParameters& parameters) {
  return connection_ ? checked(connection_->execute(sql, parameters)) : not_connected();
}

Result<TextRows> StatusSession::script(const std::string& sql) {
  return connection_ ? checked(connection_->script(sql)) : not_connected();
}

Result<void> StatusSession::lock(const std::string& sql) {
  if (!connection_) {
    return not_connected();
  }
  Result<TextRows> done = connection_->script(sql);
  if (!done && connection_->is_open() && connection_->sqlstate() == lock_not_available) {
    return tl::make_unexpected(done.error());
  }
  POSTRIDER_TRY([[maybe_unused]] const TextRows rows, checked(std::move(done)));
  return {};
}

Result<TextRows> StatusSession::checked(Result<TextRows> rows) {
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
