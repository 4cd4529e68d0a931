// A session of the store with its database: prepared statements, binary values, and several
// statements in one exchange. A session is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

#include "adapters/postgres/connection.h"
#include "adapters/postgres/store/database/parameters.h"
#include "adapters/postgres/store/database/rows.h"
#include "adapters/postgres/waiting.h"

namespace postrider::postgres {

enum class Isolation : std::uint8_t {
  write,  ///< Each statement sees what was committed before it.
  read,   ///< All statements see the same state. Nothing can be changed.
};

/// Errors of a session, by the database's SQLSTATE:
/// - conflict: another transaction was in the way (a lock, a deadlock, a serialization failure, a
///   duplicate key),
/// - corrupt: the database reports damaged data,
/// - unavailable: everything else. The store sends only its own SQL: no error is the caller's.
class Session {
 public:
  /// Fails with invalid if the address or the database cannot be used, otherwise with unavailable.
  /// `interruption` must outlive the session.
  [[nodiscard]] static Result<Session> open(const ConnectOptions& options,
                                            const Interruption& interruption);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  /// Adds a statement to the next exchange. Parameters are $1, $2, … `sql` is prepared once per
  /// session, so it must be one of a bounded number of texts. Returns its index in the answer of
  /// `exchange`.
  std::size_t queue(std::string_view sql, Parameters parameters = {});
  /// Like `queue`, for SQL that is built at run time. It is not prepared.
  std::size_t queue_once(std::string sql, Parameters parameters = {});
  [[nodiscard]] std::size_t queued() const;
  /// Adds BEGIN to the next exchange.
  void queue_begin(Isolation isolation);
  /// Discards the queued statements.
  void clear_queue();

  /// Sends everything queued and waits for all answers. Outside of a transaction, the exchange is a
  /// transaction of its own. Fails at the first error; later statements are not run. A statement
  /// that takes too long closes the session.
  [[nodiscard]] Result<std::vector<Rows>> exchange();

  /// Calls `queue` and `exchange`. Returns the rows of this statement only.
  [[nodiscard]] Result<Rows> run(std::string_view sql, Parameters parameters = {});
  [[nodiscard]] Result<Rows> run_once(std::string sql, Parameters parameters = {});

  /// Runs several statements without parameters in one transaction, for at most `max`.
  [[nodiscard]] Result<void> run_script(const std::string& sql, Millis max);

  /// The types that the server infers for the parameters of a statement. Cached.
  [[nodiscard]] Result<std::vector<Oid>> parameter_types(std::string_view sql);
  /// Like `parameter_types`, for SQL that is built at run time. Not cached.
  [[nodiscard]] Result<std::vector<Oid>> parameter_types_once(const std::string& sql);

  /// False after a failure that closed the connection.
  [[nodiscard]] bool is_open() const;
  /// The SQLSTATE of the last failed exchange. Empty if the server did not answer.
  [[nodiscard]] const std::string& sqlstate() const;
  /// True if the session goes through a connection pool such as pgbouncer. Settings and prepared
  /// statements then do not survive a transaction, so neither is used.
  [[nodiscard]] bool is_pooled() const;
  /// True between BEGIN and the end of the transaction, also after an error in it.
  [[nodiscard]] bool in_transaction() const;
  /// True after an error in a transaction. Only ROLLBACK is accepted then.
  [[nodiscard]] bool transaction_failed() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace postrider::postgres
