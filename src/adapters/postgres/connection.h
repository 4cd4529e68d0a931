// A C++ wrapper of libpq: connection, statements, notifications, errors as Result. Independent of
// the tables. Only this and store/database include libpq. A connection is used by one thread.
//
// No call blocks longer than its deadline, except for the resolution of the server's name, which
// libpq leaves to the C library. Messages never contain the password.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/secret.h"
#include "core/base/time.h"

#include "adapters/postgres/waiting.h"

struct pg_conn;
struct pg_result;

namespace postrider::postgres {

/// The rows of one statement, as text.
class TextRows {
 public:
  TextRows() = default;
  explicit TextRows(pg_result* result);

  [[nodiscard]] int count() const;
  [[nodiscard]] bool is_null(int row, int column) const;
  /// Empty if the value is null. Valid as long as this object.
  [[nodiscard]] std::string_view text(int row, int column) const;
  [[nodiscard]] std::optional<std::string> text_or_null(int row, int column) const;
  /// Zero if the value is null or not an integer.
  [[nodiscard]] std::int64_t integer(int row, int column) const;
  [[nodiscard]] bool boolean(int row, int column) const { return text(row, column) == "t"; }
  /// The number of rows that a statement inserted or changed.
  [[nodiscard]] std::int64_t affected() const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

/// A parameter `$1`, `$2`, … as text; nullopt: NULL.
using TextParameters = std::vector<std::optional<std::string>>;

struct ConnectOptions {
  Secret<std::string> address;  // A URI or `key=value …`, as libpq takes them.
  /// The certificates that the server's must be signed by. Requires TLS and the right host name,
  /// unless the address has its own `sslmode`. Empty: as the address says.
  std::string ca_file;
  Millis connect_max{10'000};  // Divided among the servers, if the address names several.
  Millis statement_max{10'000};
  /// The server ends a session that pauses longer in a transaction: one that is lost or suspended
  /// must not keep its locks.
  Millis idle_in_transaction_max{30'000};
};

class Pipeline;

class Connection {
 public:
  /// Fails with invalid if the address cannot be understood, otherwise with unavailable.
  /// `interruption` must outlive the connection. While it is set, nothing waits longer than
  /// two seconds.
  [[nodiscard]] static Result<Connection> open(const ConnectOptions& options,
                                               const Interruption& interruption);

  Connection(Connection&&) noexcept = default;
  Connection& operator=(Connection&&) noexcept = default;

  /// Runs one statement. Fails with
  /// - unavailable if the server cannot be reached, does not answer in time, or is too busy,
  /// - conflict if another transaction is in the way (a lock, a serialization failure, a
  ///   duplicate key): the same statement may succeed later,
  /// - invalid if the server refuses the statement: a missing table or privilege.
  /// A statement that ran out of time leaves the connection closed.
  [[nodiscard]] Result<TextRows> execute(const std::string& sql,
                                         const TextParameters& parameters = {});

  /// Runs several statements in one transaction, without parameters, in one exchange with the
  /// server. Returns the rows of the last statement. Errors as in `execute`. If the text has its
  /// own BEGIN, the transaction is rolled back after an error.
  [[nodiscard]] Result<TextRows> script(const std::string& sql);
  /// The same, for at most `max`.
  [[nodiscard]] Result<TextRows> script(const std::string& sql, Millis max);

  /// Waits for a notification on any channel that was LISTENed to. Takes all that have arrived.
  /// False if the time is over or `interruption` is set. Fails with unavailable.
  [[nodiscard]] Result<bool> wait_for_notification(Millis wait_max);
  struct NotificationWait {
    Millis max{0};
    /// Notifications with this payload are taken but do not count.
    std::string_view ignored_payload;
    const Interruption* interruption = nullptr;  // Instead of the connection's.
  };
  [[nodiscard]] Result<bool> wait_for_notification(const NotificationWait& wanted);

  /// Of the last failure of a statement. Empty if the server did not answer.
  [[nodiscard]] const std::string& sqlstate() const { return sqlstate_; }
  /// False after a failure that closed the connection.
  [[nodiscard]] bool is_open() const;
  /// The process that the server named. Not `pg_backend_pid()` if a connection pool is in between.
  [[nodiscard]] int server_pid() const;

  /// As SQL text, with quotes.
  [[nodiscard]] static std::string literal(std::string_view text);
  [[nodiscard]] static std::string identifier(std::string_view name);

  /// How long a statement may take.
  [[nodiscard]] Millis statement_max() const { return statement_max_; }

 private:
  friend class Pipeline;  // Several statements in one exchange (store/database/pipeline.h).

  struct Close {
    void operator()(pg_conn* connection) const;
  };

  Connection(pg_conn* connection, const ConnectOptions& options, const Interruption& interruption);

  [[nodiscard]] Result<void> finish_connecting(Millis connect_max);
  [[nodiscard]] Result<void> flush(Deadline& deadline);
  [[nodiscard]] Result<TextRows> results(Millis max);
  [[nodiscard]] Result<TextRows> collect(Deadline& deadline);
  [[nodiscard]] Result<void> wait_until(Direction direction, Deadline& deadline);
  [[nodiscard]] tl::unexpected<Error> lost(std::string_view what);
  [[nodiscard]] tl::unexpected<Error> refused(pg_result* result);
  /// libpq's message as one line without the password.
  [[nodiscard]] std::string readable(std::string_view message) const;

  std::unique_ptr<pg_conn, Close> connection_;
  const Interruption* interruption_;
  Millis statement_max_;
  Secret<std::string> password_;
  std::string sqlstate_;
};

}  // namespace postrider::postgres
