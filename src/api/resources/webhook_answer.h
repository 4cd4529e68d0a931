// The answer that shows one webhook with its circuit and its latest results.
#pragma once

#include "engine/intake/directory.h"

#include "api/resources/context.h"

namespace postrider::api {

/// Answers 200 with the webhook. Fails with 503 if its history cannot be read.
[[nodiscard]] Awaitable<Reply> show_webhook(Context context, WebhookRef webhook);

/// The same after a stored change: unreadable history is shown as null, because a failure would say
/// that nothing has changed.
[[nodiscard]] Awaitable<Reply> show_changed_webhook(Context context, WebhookRef webhook);

/// The same after a change that may have activated the webhook: then the answer offers a replay of
/// what it missed.
[[nodiscard]] Awaitable<Reply> show_changed_webhook(Context context, WebhookRef webhook,
                                                    Webhook before);

}  // namespace postrider::api
