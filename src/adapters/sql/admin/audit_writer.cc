#include "adapters/sql/admin/audit_writer.h"

#include <utility>

#include "core/base/assert.h"
#include "ports/audit_chain.h"

namespace postrider::sql {
namespace {

// Entries are rare, so statements are prepared each time, and the end of the chain is read from the
// table: a rollback has nothing to undo in memory.

constexpr std::string_view insert_sql = "INSERT INTO audit_entry (" POSTRIDER_AUDIT_COLUMNS
                                        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

Result<AuditRecord> read_last(Database& database) {
  POSTRIDER_TRY(Statement statement, database.prepare("SELECT sequence, hash FROM audit_entry"
                                                      " ORDER BY sequence DESC LIMIT 1"));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  AuditRecord last;
  if (found) {
    last.sequence = query.integer(0);
    last.hash = query.text(1);
  }
  return last;
}

class SqlAuditWriter final : public AuditWriter {
 public:
  explicit SqlAuditWriter(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<void> append(const AuditEntry& entry) override {
    return writer_->transact_repeatedly([this, &entry] { return append_audit(*writer_, entry); });
  }

 private:
  std::shared_ptr<Writer> writer_;
};

}  // namespace

AuditRecord read_audit(const Query& query) {
  return {.sequence = query.integer(0),
          .entry = {.at = query.time(1),
                    .actor = query.text(2),
                    .actor_name = query.text(3),
                    .remote_ip = query.text(4),
                    .request_id = query.text(5),
                    .action = query.text(6),
                    .subject = query.text(7),
                    .tenant_id = query.text(8),
                    .detail = query.text(9)},
          .hash = query.text(10)};
}

Result<void> append_audit(Writer& writer, const AuditEntry& entry) {
  return append_audits(writer, {entry});
}

Result<void> append_audits(Writer& writer, const std::vector<AuditEntry>& entries) {
  POSTRIDER_ASSERT(writer.digest() != nullptr);
  POSTRIDER_CHECK(writer.lock_audit_chain());
  POSTRIDER_TRY(AuditRecord last, read_last(writer.database()));
  POSTRIDER_TRY(Statement statement, writer.database().prepare(insert_sql));
  for (const AuditEntry& entry : entries) {
    last = chain_entry(last, entry, writer.digest());
    POSTRIDER_CHECK(statement.run(last.sequence, entry.at, entry.actor, entry.actor_name,
                                  entry.remote_ip, entry.request_id, entry.action, entry.subject,
                                  entry.tenant_id, entry.detail, Blob{last.hash}));
  }
  return {};
}

std::unique_ptr<AuditWriter> make_audit_writer(std::shared_ptr<Writer> writer) {
  return std::make_unique<SqlAuditWriter>(std::move(writer));
}

}  // namespace postrider::sql
