// The only connection of a node that writes. All writing roles of a store share it. Store thread
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "ports/audit.h"
#include "ports/vault.h"

#include "adapters/postgres/store/database/joined_statement.h"
#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/database/sql_database.h"
#include "adapters/postgres/store/postgres_store.h"
#include "adapters/sql/writer.h"

namespace postrider::postgres {

class Writer final : public sql::Writer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Writer>> open(const PostgresOptions& options);
  ~Writer() override;

  // BEGIN is sent with the first exchange of a transaction; one without an exchange sends nothing.
  // If the connection is lost, `transact` fails with unavailable and the writer is broken until
  // `reopen`. If it is lost during COMMIT, it is not known whether the transaction is stored.

  /// Sends everything queued on the session, and COMMIT with it in the same exchange. Call at most
  /// once, as the last exchange of a transaction. In a nested call COMMIT is left to the outer one.
  [[nodiscard]] Result<std::vector<Rows>> exchange_and_commit();

  /// Adds the mark by which a transaction whose COMMIT was not answered is found. Without this call
  /// it is a statement of its own. Call in a transaction, and send `joined` in it. Does nothing if
  /// it was called before in this transaction.
  void add_mark(JoinedStatement& joined);

  /// Fails with unavailable while broken.
  [[nodiscard]] Result<void> usable() const override;
  /// Connects again.
  [[nodiscard]] Result<void> reopen();
  /// After `reopen`: whether the transaction whose COMMIT was not answered is stored. Nullopt if
  /// there was no such transaction.
  [[nodiscard]] std::optional<bool> lost_commit_was_stored() const { return lost_commit_stored_; }
  /// The number of transactions that failed.
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

  [[nodiscard]] Result<void> lock_audit_chain() override;
  [[nodiscard]] sql::Database& database() override { return sql_; }

  /// Call only if usable, and in a transaction.
  [[nodiscard]] Session& session() { return *session_; }
  /// Random, new for each opened store. Stored in the column `writer` of the statistics.
  [[nodiscard]] const Uuid& id() const { return id_; }
  [[nodiscard]] Digest digest() const override { return options_.digest; }
  [[nodiscard]] const std::shared_ptr<const Vault>& vault() const { return options_.vault; }

 private:
  /// A process of the database server. A pid can be reused, but not with the same start time.
  struct Backend {
    std::int64_t pid = 0;
    std::int64_t started = 0;
  };

  explicit Writer(PostgresOptions options);

  [[nodiscard]] Result<void> begin() override;
  [[nodiscard]] Result<void> commit() override;
  [[nodiscard]] Error roll_back(Error cause) override;
  [[nodiscard]] Result<std::vector<Rows>> exchange_commit();
  [[nodiscard]] bool may_repeat(int tries) const override;

  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<Session> connect();
  [[nodiscard]] Result<void> lock_database(Session& session) const;
  [[nodiscard]] Result<void> set_plans(Session& session);
  [[nodiscard]] Result<void> note_backend(Session& session);
  [[nodiscard]] Result<void> end_lost_backend(Session& session);
  [[nodiscard]] Result<void> resolve_unknown_commit(Session& session);

  PostgresOptions options_;
  std::shared_ptr<const Interruption> interruption_;
  Uuid id_{};
  Uuid database_{};                 // The identity of the store.
  std::optional<Session> session_;  // Empty only while broken.
  std::optional<Backend> backend_;  // Of the session. Empty behind a connection pool.
  std::optional<Error> broken_;
  std::size_t begin_statements_ = 0;
  bool committed_ = false;          // By exchange_and_commit.
  bool marked_ = false;             // By add_mark.
  std::string failed_with_;         // The SQLSTATE that ended the last transaction.
  std::int64_t commit_number_ = 0;  // Of the last COMMIT that was sent.
  std::optional<std::int64_t> unknown_commit_;
  std::optional<bool> lost_commit_stored_;
  std::uint64_t failures_ = 0;
  SqlDatabase sql_;
};

}  // namespace postrider::postgres
