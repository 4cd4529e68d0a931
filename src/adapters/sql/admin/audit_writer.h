// The AuditWriter role on the writer's connection. Store thread only.
#pragma once

#include <memory>
#include <vector>

#include "core/base/result.h"
#include "ports/audit.h"

#include "adapters/sql/writer.h"

namespace postrider::sql {

/// The columns of the table audit_entry that read_audit expects.
#define POSTRIDER_AUDIT_COLUMNS                                                                 \
  "sequence, at, actor, actor_name, remote_ip, request_id, action, subject, tenant_id, detail," \
  " hash"
[[nodiscard]] AuditRecord read_audit(const Query& query);

/// Appends the entry to the chain, which stays locked until the end of the transaction. Call within
/// a transaction.
[[nodiscard]] Result<void> append_audit(Writer& writer, const AuditEntry& entry);
[[nodiscard]] Result<void> append_audits(Writer& writer, const std::vector<AuditEntry>& entries);

[[nodiscard]] std::unique_ptr<AuditWriter> make_audit_writer(std::shared_ptr<Writer> writer);

}  // namespace postrider::sql
