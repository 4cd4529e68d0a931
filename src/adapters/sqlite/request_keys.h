// The roles that keep and look up the idempotency keys of requests.
#pragma once

#include <memory>

#include "ports/request_keys.h"

#include "adapters/sqlite/database.h"
#include "adapters/sqlite/writer.h"

namespace postrider::sqlite {

[[nodiscard]] std::unique_ptr<RequestKeys> make_request_keys(std::shared_ptr<Writer> writer);
[[nodiscard]] std::unique_ptr<UsedKeys> make_used_keys(std::shared_ptr<Database> database);

}  // namespace postrider::sqlite
