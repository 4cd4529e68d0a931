#include "adapters/postgres/store/database/reader.h"

#include <utility>

#include "adapters/postgres/store/database/migrations.h"

namespace postrider::postgres {

ReadConnection::ReadConnection(PostgresOptions options)
    : options_(std::move(options)),
      interruption_(options_.interruption ? options_.interruption
                                          : std::make_shared<const Interruption>()),
      sql_([this](const SqlDatabase::Body& body) { return read_one(body); },
           SqlDatabase::Access::read) {}

Result<std::shared_ptr<ReadConnection>> ReadConnection::open(const PostgresOptions& options) {
  std::shared_ptr<ReadConnection> connection{new ReadConnection{options}};
  POSTRIDER_CHECK(connection->connect());
  return connection;
}

Result<void> ReadConnection::connect() {
  POSTRIDER_TRY(Session session, Session::open(options_.connect, *interruption_));
  POSTRIDER_CHECK(check_schema(session));
  session_ = std::move(session);
  return {};
}

Result<void> ReadConnection::reconnect() {
  if (session_ && session_->is_open()) {
    return {};
  }
  session_.reset();
  const Result<void> connected = connect();
  if (!connected) {
    // Not invalid: an operator may restore a database that was emptied or migrated. The cause may
    // name the database and its user, and tenants see this message (P11).
    Error error = as_unavailable(Errc::invalid, connected.error());
    error.message = "The database cannot be used at the moment.";
    return tl::make_unexpected(std::move(error));
  }
  return {};
}

void ReadConnection::begin(Statements statements) {
  is_reading_ = true;
  // A session of a pool keeps no settings: the transaction sets the statement's limits.
  if (statements == Statements::several || session_->is_pooled()) {
    session_->queue_begin(Isolation::read);
  }
}

void ReadConnection::end() {
  is_reading_ = false;
  session_->clear_queue();
  if (session_->in_transaction()) {
    // If this fails, the connection is closed and the next call opens another one.
    [[maybe_unused]] const Result<Rows> ended = session_->run("ROLLBACK");
  }
}

}  // namespace postrider::postgres
