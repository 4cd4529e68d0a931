// Checks an event against the catalogue of event types before it is published.
#pragma once

#include <string>

#include "core/model/event.h"

#include "api/resources/context.h"
#include "runtime/store/event_type_catalog.h"

namespace postrider::api {

/// `path` is the event's path in the body, as in EventArrival. Costs one look-up for a type without
/// a schema.
[[nodiscard]] Parsed<void> check_event_type(const EventTypeCatalog& catalog, const Event& event,
                                            const std::string& path, const ApiOptions& options);

}  // namespace postrider::api
