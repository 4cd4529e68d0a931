// Who is asking, as far as the key tells.
#pragma once

#include <optional>
#include <string>

#include "core/model/event.h"

#include "runtime/admin/access_snapshot.h"

namespace postrider::api {

struct Caller {
  KeyRef key;                         // Null for resources that need no key.
  std::optional<TenantId> tenant_id;  // Set: sees and changes only what is this tenant's (P11).
  std::string remote_ip;
  std::string request_id;
};

}  // namespace postrider::api
