// What the catalogue of event types has against an event that is about to be published.
#pragma once

#include <optional>
#include <string>

#include "core/model/event.h"

#include "api/resources/context.h"
#include "runtime/store/event_type_catalog.h"

namespace postrider::api {

/// nullopt: nothing. `path` is that of the event in the body, as in EventArrival. Costs one look-up
/// for a type without a schema.
[[nodiscard]] std::optional<Problem> event_type_problem(const EventTypeCatalog& catalog,
                                                        const Event& event, const std::string& path,
                                                        const ApiOptions& options);

}  // namespace postrider::api
