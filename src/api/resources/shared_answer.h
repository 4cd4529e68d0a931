// Answers requests when several servers share the store: what one of them has answered is known to
// the next request on any other (docs/decisions/0042).
//
// Requests wait until this server has caught up before their key is checked. Publishes do not wait.
// They are checked with the current snapshots, and again if the store finds that the catalogue has
// changed, or after a wait if they would be refused because of something that may have changed.
#pragma once

#include <memory>

#include "api/http/head_check.h"
#include "api/http/router.h"
#include "api/resources/guard.h"

namespace postrider::api {

[[nodiscard]] Awaitable<Reply> answer_shared(Guard guard, HttpRequest request);

/// For the listener of the same routes. Empty if the store is not shared. `router` and `service`
/// must outlive the result and its awaitables.
[[nodiscard]] HeadRecheck make_head_recheck(const Router& router, Service& service,
                                            std::shared_ptr<ApiControl> control);

}  // namespace postrider::api
