// Lists attempts. Reader thread. Call within a read, because it runs several statements.
#pragma once

#include "core/base/result.h"
#include "ports/history.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

[[nodiscard]] Result<ListedAttempts> list_attempts(Session& session, const AttemptFilter& filter,
                                                   const AttemptPage& page);

}  // namespace postrider::postgres
