// Who changed what: an append-only log in which every entry is chained to the one before it, so
// that a removed or altered entry shows.
//
// The specification is tests/contract/journal_contract.cc. Calls block; used by the store thread
// only.
#pragma once

#include <cstdint>
#include <string>

#include "core/event.h"
#include "core/result.h"
#include "core/time.h"

namespace postrider {

struct AuditEntry {
  WallTime at;
  std::string actor = "system";  // An API key's id; `system` for what the server did by itself.
  std::string actor_name;
  std::string remote_ip;
  std::string request_id;
  std::string action;         // `webhook.update`: the noun and the verb.
  std::string subject;        // The id of what was changed.
  TenantId tenant_id;         // Whose thing it is.
  std::string detail = "{}";  // A JSON object. Never a secret (P11).

  bool operator==(const AuditEntry&) const = default;
};

}  // namespace postrider
