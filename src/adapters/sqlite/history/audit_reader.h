// The AuditReader role on a reader's connection.
#pragma once

#include <memory>

#include "ports/audit.h"

#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/history/history_query.h"

namespace postrider::sqlite {

/// Newest first, at most one row more than the page's limit.
[[nodiscard]] Select select_audit(const AuditFilter& filter, const Page& page);

[[nodiscard]] std::unique_ptr<AuditReader> make_audit_reader(std::shared_ptr<Database> database,
                                                             Digest digest);

}  // namespace postrider::sqlite
