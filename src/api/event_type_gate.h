// What the catalogue of event types has against an event that is about to be published.
#pragma once

#include <optional>
#include <string>

#include "core/event.h"

#include "api/context.h"
#include "runtime/event_type_book.h"

namespace postrider::api {

/// nullopt: nothing. `path` is that of the event in the body, as in EventArrival. Costs one look-up
/// for a type without a schema.
[[nodiscard]] std::optional<Problem> event_type_problem(const EventTypeBook& book,
                                                        const Event& event, const std::string& path,
                                                        const ApiOptions& options);

}  // namespace postrider::api
