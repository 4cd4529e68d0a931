// The connection of a store that writes, with its transactions. All writing roles of the store
// share it. Store thread only.
#pragma once

#include <type_traits>
#include <utility>

#include "core/base/result.h"
#include "ports/audit.h"

#include "adapters/sql/database.h"

namespace postrider::sql {

class Writer {
 public:
  virtual ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Runs `body`, which returns a Result, in a transaction and rolls back if it fails. A nested
  /// call joins the outer transaction.
  template <class Body>
  [[nodiscard]] std::invoke_result_t<Body> transact(const Body& body) {
    POSTRIDER_CHECK(usable());
    if (depth_ > 0) {
      ++depth_;
      auto nested = body();
      --depth_;
      return nested;
    }
    POSTRIDER_CHECK(begin());
    depth_ = 1;
    auto result = body();
    depth_ = 0;
    if (!result) {
      return tl::make_unexpected(roll_back(std::move(result).error()));
    }
    POSTRIDER_CHECK(commit());
    return result;
  }

  /// As `transact`, but runs `body` again, a few times, if the database ended the transaction
  /// because of another one: a deadlock, a serialization failure or a duplicate key. A nested call
  /// joins the outer transaction and is not repeated. `body` must have no effect outside of the
  /// transaction, or replace it when it runs again.
  template <class Body>
  [[nodiscard]] std::invoke_result_t<Body> transact_repeatedly(const Body& body) {
    auto result = transact(body);
    for (int tries = 1; !result && depth_ == 0 && may_repeat(tries); ++tries) {
      result = transact(body);
    }
    return result;
  }

  /// Fails with unavailable after a failure that leaves the contents of the store unknown, until
  /// the store has recovered.
  [[nodiscard]] virtual Result<void> usable() const = 0;
  /// Call only if usable.
  [[nodiscard]] virtual Database& database() = 0;
  /// Hashes the chain of the audit log. Null if the store is opened without one.
  [[nodiscard]] virtual Digest digest() const = 0;
  /// Keeps other transactions from appending to the audit log until this transaction ends.
  [[nodiscard]] virtual Result<void> lock_audit_chain() = 0;

  /// While on, the database overwrites what it deletes or replaces. Has no effect in a database
  /// that cannot do that. Call within a transaction.
  [[nodiscard]] virtual Result<void> set_secure_delete([[maybe_unused]] bool on) { return {}; }
  /// Removes deleted content from the database's log, as far as the database can. Call outside of a
  /// transaction.
  [[nodiscard]] virtual Result<void> purge_log() { return {}; }

 protected:
  Writer() = default;

  [[nodiscard]] virtual Result<void> begin() = 0;
  [[nodiscard]] virtual Result<void> commit() = 0;
  /// Undoes the transaction that failed with `cause`. Returns the error that `transact` reports.
  [[nodiscard]] virtual Error roll_back(Error cause) = 0;
  /// Whether the transaction that failed, for the `tries`-th time, may succeed when it is repeated.
  [[nodiscard]] virtual bool may_repeat([[maybe_unused]] int tries) const { return false; }
  /// How many calls of `transact` are running: the outer one and those that joined it.
  [[nodiscard]] int depth() const { return depth_; }

 private:
  int depth_ = 0;
};

}  // namespace postrider::sql
