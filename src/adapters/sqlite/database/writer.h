// The only connection that writes. All writing roles of a store share it. Store thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "core/base/ids.h"
#include "core/base/result.h"

#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/sqlite_store.h"
#include "adapters/sqlite/database/store_marker.h"
#include "adapters/sqlite/database/tail_check.h"
#include "adapters/sqlite/ledger/lane_cache.h"
#include "adapters/sqlite/ledger/stats_accumulator.h"
#include "adapters/sqlite/ledger/string_interner.h"

namespace postrider::sqlite {

class Writer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Writer>> open(const SqliteOptions& options);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Everything that depends on the open connection.
  struct Session {
    Database database;
    Statement begin;
    Statement begin_read;
    Statement commit;
    Statement advance;
    StringInterner tenants;
    StringInterner types;
    LaneCache lanes;
    StatsAccumulator stats;
    std::shared_ptr<const Vault> vault;  // Null: nothing is sealed.
    std::int64_t next_sequence = 1;
    std::int64_t position = 0;  // Transactions in the database (store_marker.h).
    int checkpoint_at_pages = 0;
  };

  /// Runs `body` in a transaction and rolls back if it fails. After a disk failure the writer is
  /// broken until `reopen` succeeds, because the contents of the file are unknown (P1). A nested
  /// call joins the outer transaction.
  template <class Body>
  [[nodiscard]] std::invoke_result_t<Body> transact(const Body& body) {
    POSTRIDER_CHECK(usable());
    if (in_transaction_) {
      return body();
    }
    POSTRIDER_CHECK(begin());
    in_transaction_ = true;
    auto result = body();
    in_transaction_ = false;
    if (!result) {
      roll_back(result.error());
      return result;
    }
    POSTRIDER_CHECK(commit());
    return result;
  }

  /// Runs `body`, which only reads, on one snapshot. Cheaper than a snapshot for each statement.
  template <class Body>
  [[nodiscard]] std::invoke_result_t<Body> read(const Body& body) {
    POSTRIDER_CHECK(usable());
    if (in_transaction_) {
      return body();
    }
    POSTRIDER_CHECK(session_->begin_read.run());
    auto result = body();
    Result<void> ended = session_->commit.run();
    if (result && !ended) {
      return tl::make_unexpected(ended.error());
    }
    return result;
  }

  /// Fails with unavailable while broken.
  [[nodiscard]] Result<void> usable() const;

  /// Closes the connection and opens the file again. All statements prepared on it must have been
  /// destroyed.
  [[nodiscard]] Result<void> reopen();

  /// Call only if usable.
  [[nodiscard]] Session& session() { return *session_; }
  [[nodiscard]] Database& database() { return session_->database; }
  [[nodiscard]] Digest digest() const { return options_.digest; }
  /// What was found when the store was opened.
  [[nodiscard]] const std::optional<StoreIncident>& incident() const { return incident_; }

 private:
  Writer(SqliteOptions options, DirectoryLock lock);

  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<void> commit();
  void roll_back(const Error& cause);
  [[nodiscard]] Result<void> advance_position();
  [[nodiscard]] Result<void> start_marker(const TailCheck& found);
  void note_position();
  void checkpoint_when_due();

  SqliteOptions options_;
  DirectoryLock lock_;
  std::optional<StoreIncident> incident_;
  std::optional<MarkerFile> marker_;  // Empty until the store has been opened.
  std::int64_t base_ = 0;             // The position that the database file holds without its log.
  std::unique_ptr<Session> session_;  // Null only while broken.
  std::optional<Error> broken_;
  bool in_transaction_ = false;
  std::int64_t sequence_before_ = 1;  // The value of next_sequence when the transaction began.
  std::int64_t changes_before_ = 0;   // The value of total_changes then.
};

}  // namespace postrider::sqlite
