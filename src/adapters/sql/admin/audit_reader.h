// The AuditReader role on a reader's connection.
#pragma once

#include <memory>

#include "ports/audit.h"

#include "adapters/sql/database.h"
#include "adapters/sql/select.h"

namespace postrider::sql {

/// Newest first, at most one row more than the page's limit.
[[nodiscard]] Select select_audit(const AuditFilter& filter, const Page& page);

[[nodiscard]] std::unique_ptr<AuditReader> make_audit_reader(std::shared_ptr<Database> database,
                                                             Digest digest);

}  // namespace postrider::sql
