// The AuditLog over a reader's connection.
#pragma once

#include <memory>

#include "ports/journal.h"

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/history_query.h"

namespace postrider::sqlite {

/// Newest first, one row more than the page's limit.
[[nodiscard]] Select select_audit(const AuditFilter& filter, const Page& page);

[[nodiscard]] std::unique_ptr<AuditLog> make_audit_log(std::shared_ptr<Database> database,
                                                       Digest digest);

}  // namespace postrider::sqlite
