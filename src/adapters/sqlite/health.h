// A webhook's health, from a reader's connection. Within a snapshot: it makes several queries.
#pragma once

#include "core/ids.h"
#include "core/result.h"
#include "ports/history.h"

#include "adapters/sqlite/database.h"

namespace postrider::sqlite {

[[nodiscard]] Result<WebhookHealth> read_health(Database& database, WebhookId id);

}  // namespace postrider::sqlite
