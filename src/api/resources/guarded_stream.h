// An answer that lasts, for as long as its caller's key does: a key that is deleted or expires ends
// its streams, and nothing is sent on them any more.
#pragma once

#include "api/resources/context.h"
#include "runtime/admin/access_snapshot.h"

namespace postrider::api {

/// `answering` is the resource's; its stream, if it has one, is guarded. `service` outlives it.
[[nodiscard]] Awaitable<HttpResponse> guard_stream(Awaitable<HttpResponse> answering,
                                                   Service* service, KeyId key);

}  // namespace postrider::api
