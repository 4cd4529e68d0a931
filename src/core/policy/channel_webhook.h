// What the webhook of a notification channel has from its channel.
#pragma once

#include "core/model/notification_channel.h"
#include "core/model/webhook.h"

namespace postrider {

/// Sets the owner, name, subscriptions and, for chat services, the form of the body. The webhook of
/// an active channel is switched on: it may have been disabled because it failed. The channel's
/// `updated_at` must be current.
void derive_webhook(const NotificationChannel& channel, Webhook& webhook);

}  // namespace postrider
