// Idempotency keys of requests that make something, for every such resource alike. The key is
// stored with what is made (runtime/once.h); a request that comes again is answered by looking.
#pragma once

#include <cstdint>

#include "api/context.h"

namespace postrider::api {

/// How a request is answered that was carried out before.
struct Repeat {
  std::uint16_t status = 0;  // As the first time. 0: this resource takes no key.
  Resource show = nullptr;   // Answers with what was made. Null: it cannot be shown again.
};

struct OnceRoute {
  Service* world = nullptr;  // Not the caller's part of it: keys are nobody's data.
  Resource make = nullptr;
  Repeat repeat;
};

/// Calls `make`, unless a request with the same key of the same caller was carried out before. An
/// answer that refuses is not remembered.
[[nodiscard]] Awaitable<HttpResponse> carry_out_once(OnceRoute route, Context context,
                                                     HttpRequest request);

}  // namespace postrider::api
