// Reads the requests that the attempts of a delivery sent. Reader thread.
#pragma once

#include <cstdint>
#include <map>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/request/request_shape.h"
#include "ports/vault.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

/// By attempt number, as History::requests_of. `vault` may be null.
[[nodiscard]] Result<std::map<std::uint32_t, RequestShape>> read_requests(Session& session,
                                                                          DeliveryId id,
                                                                          const Vault* vault);

}  // namespace postrider::postgres
