// Idempotency keys of requests that make something, for every such resource alike. The key is
// stored with what is made (runtime/store/idempotent_request.h); a request that comes again is
// answered by looking.
#pragma once

#include <cstdint>

#include "api/resources/context.h"

namespace postrider::api {

/// How a request is answered that was carried out before.
struct ReplayRule {
  std::uint16_t status = 0;  // As the first time. 0: this resource takes no key.
  Resource show = nullptr;   // Answers with what was made. Null: it cannot be shown again.
};

struct IdempotentRoute {
  Service* world = nullptr;  // Not the caller's part of it: keys are nobody's data.
  Resource make = nullptr;
  ReplayRule repeat;
};

/// Calls `make`, unless a request with the same key of the same caller was carried out before. An
/// answer that refuses is not remembered.
[[nodiscard]] Awaitable<HttpResponse> answer_idempotently(IdempotentRoute route, Context context,
                                                          HttpRequest request);

}  // namespace postrider::api
