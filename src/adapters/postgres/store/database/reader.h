// The connection of one Reader, which all its roles share. One reader thread.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/base/result.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/database/sql_database.h"
#include "adapters/postgres/store/postgres_store.h"

namespace postrider::postgres {

class ReadConnection {
 public:
  [[nodiscard]] static Result<std::shared_ptr<ReadConnection>> open(const PostgresOptions& options);

  /// Runs `body(Session&)`, which returns a Result, on one consistent state of the database. BEGIN
  /// is sent with the first exchange. A nested call joins the outer one. Connects again if the
  /// connection was lost; `body` is then run twice, so it must have no effect outside.
  template <class Body>
  [[nodiscard]] std::invoke_result_t<Body, Session&> read(const Body& body) {
    return read(Statements::several, body);
  }

  /// Like `read`, for a body of one statement, which sees one state without a transaction.
  template <class Body>
  [[nodiscard]] std::invoke_result_t<Body, Session&> read_one(const Body& body) {
    return read(Statements::one, body);
  }

  /// For the roles in adapters/sql. Outside of `read`, each statement sees a state of its own.
  [[nodiscard]] sql::Database& database() { return sql_; }

  [[nodiscard]] const std::shared_ptr<const Vault>& vault() const { return options_.vault; }
  [[nodiscard]] Digest digest() const { return options_.digest; }

 private:
  explicit ReadConnection(PostgresOptions options);

  enum class Statements : std::uint8_t { one, several };

  template <class Body>
  [[nodiscard]] std::invoke_result_t<Body, Session&> read(Statements statements, const Body& body) {
    if (is_reading_) {
      return body(*session_);
    }
    POSTRIDER_CHECK(reconnect());
    auto result = read_once(statements, body);
    if (!result && !session_->is_open()) {
      POSTRIDER_CHECK(reconnect());
      result = read_once(statements, body);
    }
    if (!result) {
      return tl::make_unexpected(as_unavailable(Errc::conflict, result.error()));
    }
    return result;
  }

  template <class Body>
  [[nodiscard]] std::invoke_result_t<Body, Session&> read_once(Statements statements,
                                                               const Body& body) {
    begin(statements);
    auto result = body(*session_);
    end();
    return result;
  }

  [[nodiscard]] Result<void> connect();
  /// Does nothing if the session is open.
  [[nodiscard]] Result<void> reconnect();
  /// Replaces `code` by unavailable, because no port declares it.
  [[nodiscard]] static Error as_unavailable(Errc code, Error error) {
    return {.code = error.code == code ? Errc::unavailable : error.code,
            .message = std::move(error.message)};
  }
  void begin(Statements statements);
  void end();

  PostgresOptions options_;
  std::shared_ptr<const Interruption> interruption_;
  std::optional<Session> session_;
  bool is_reading_ = false;
  SqlDatabase sql_;
};

}  // namespace postrider::postgres
