// The author of a request.
#pragma once

#include <optional>
#include <string>

#include "core/model/event.h"
#include "engine/admin/access_snapshot.h"

namespace postrider::api {

struct Caller {
  KeyRef key;                         // A key or a session. Null on routes that need none.
  std::optional<TenantId> tenant_id;  // Set: reaches this tenant's data only (P11).
  std::string remote_ip;
  std::string request_id;
};

}  // namespace postrider::api
