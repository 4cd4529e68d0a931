// The AuditWriter over the writer's connection.
#pragma once

#include <memory>

#include "core/base/result.h"
#include "ports/audit.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

/// Of the table audit_entry; read by read_audit.
constexpr std::string_view audit_columns =
    "sequence, at, actor, actor_name, remote_ip, request_id, action, subject, tenant_id, detail,"
    " hash";
[[nodiscard]] AuditRecord read_audit(const Query& query);

/// Adds the entry to the chain. Within a transaction.
[[nodiscard]] Result<void> append_audit(Writer& writer, const AuditEntry& entry);

[[nodiscard]] std::unique_ptr<AuditWriter> make_audit_writer(std::shared_ptr<Writer> writer);

}  // namespace postrider::sqlite
