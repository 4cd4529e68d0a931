// The answer that shows one webhook with its circuit and latest attempts.
#pragma once

#include "engine/intake/directory.h"

#include "api/resources/context.h"

namespace postrider::api {

/// 200 with the webhook. 503 when its history cannot be read.
[[nodiscard]] Awaitable<HttpResponse> show_webhook(Context context, WebhookRef webhook);

/// The same after a change that is stored already: unreadable history is then shown as null,
/// because a failure here would say that nothing changed.
[[nodiscard]] Awaitable<HttpResponse> show_changed_webhook(Context context, WebhookRef webhook);

/// The same when the change may have switched it on: then a replay of what it missed is offered.
[[nodiscard]] Awaitable<HttpResponse> show_changed_webhook(Context context, WebhookRef webhook,
                                                           Webhook before);

}  // namespace postrider::api
