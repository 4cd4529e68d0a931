// The only connection that writes. All writing roles of a store share it. Store thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "core/base/ids.h"
#include "core/base/result.h"

#include "adapters/sql/writer.h"
#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/sqlite_store.h"
#include "adapters/sqlite/database/store_marker.h"
#include "adapters/sqlite/database/tail_check.h"
#include "adapters/sqlite/ledger/lane_cache.h"
#include "adapters/sqlite/ledger/stats_accumulator.h"
#include "adapters/sqlite/ledger/string_interner.h"

namespace postrider::sqlite {

/// After a disk failure in a transaction the writer is broken until `reopen` succeeds, because the
/// contents of the file are unknown (P1).
class Writer final : public sql::Writer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Writer>> open(const SqliteOptions& options);
  ~Writer() override;

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

  /// Runs `body`, which only reads, on one snapshot. Cheaper than a snapshot for each statement.
  template <class Body>
  [[nodiscard]] std::invoke_result_t<Body> read(const Body& body) {
    POSTRIDER_CHECK(usable());
    if (depth() > 0) {
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
  [[nodiscard]] Result<void> usable() const override;

  /// Closes the connection and opens the file again. All statements prepared on it must have been
  /// destroyed.
  [[nodiscard]] Result<void> reopen();

  /// Call only if usable.
  [[nodiscard]] Session& session() { return *session_; }
  [[nodiscard]] Database& database() override { return session_->database; }
  [[nodiscard]] Digest digest() const override { return options_.digest; }
  [[nodiscard]] Result<void> lock_audit_chain() override { return {}; }
  [[nodiscard]] Result<void> set_secure_delete(bool on) override;
  [[nodiscard]] Result<void> purge_log() override;
  /// What was found when the store was opened.
  [[nodiscard]] const std::optional<StoreIncident>& incident() const { return incident_; }

 private:
  Writer(SqliteOptions options, DirectoryLock lock);

  [[nodiscard]] Result<void> begin() override;
  [[nodiscard]] Result<void> commit() override;
  [[nodiscard]] Error roll_back(Error cause) override;
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
  std::int64_t sequence_before_ = 1;  // The value of next_sequence when the transaction began.
  std::int64_t changes_before_ = 0;   // The value of total_changes then.
};

}  // namespace postrider::sqlite
