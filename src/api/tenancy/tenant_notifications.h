// Restricts notifications to the channels of one tenant.
#pragma once

#include <memory>

#include "engine/admin/channel_directory.h"
#include "ports/notifications.h"

namespace postrider::api {

/// `all` must outlive the result; use it on the same thread. `channels` are the tenant's own.
[[nodiscard]] std::unique_ptr<NotificationReader> make_tenant_notifications(
    NotificationReader& all, std::shared_ptr<const ChannelDirectory> channels);

}  // namespace postrider::api
