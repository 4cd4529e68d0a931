// Idempotency keys of the requests that create something. The key is stored together with what is
// created (runtime/store/idempotent_request.h); a repeated request is answered with a look-up.
#pragma once

#include <cstdint>

#include "api/resources/context.h"

namespace postrider::api {

/// How a request that was carried out before is answered.
struct ReplayRule {
  std::uint16_t status = 0;  // As the first time. 0: this route takes no key.
  Resource show = nullptr;   // Answers with what was created. Null: it cannot be shown again.
};

struct IdempotentRoute {
  Queries& queries;  // Unrestricted: request keys belong to callers, not to tenants.
  Resource make = nullptr;
  ReplayRule replay;
};

/// Calls `make`, unless the same caller sent a request with the same key before. A problem is not
/// remembered: the request may be sent again.
[[nodiscard]] Awaitable<Reply> answer_idempotently(IdempotentRoute route, Context context,
                                                   HttpRequest request);

}  // namespace postrider::api
