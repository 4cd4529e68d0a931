// The types of events that the server publishes to notification channels of kind webhook, with the
// schema and an example of their data. They are part of the catalogue of event types and cannot be
// changed.
#pragma once

#include <string_view>
#include <vector>

#include "core/model/event_type.h"
#include "core/model/notification.h"

namespace postrider {

/// In name order.
[[nodiscard]] const std::vector<EventType>& system_event_types();

/// The type of the event that tells about a notification. A test has the type of webhook tests.
[[nodiscard]] std::string_view system_event_type(NotificationKind kind,
                                                 NotificationTransition transition);

}  // namespace postrider
