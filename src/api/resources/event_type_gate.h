// Checks events against the catalogue of event types before they are published.
#pragma once

#include <memory>
#include <string>

#include "core/model/event.h"

#include "api/resources/context.h"
#include "runtime/store/event_type_catalog.h"

namespace postrider::api {

/// For one request: its events share a budget, so that a batch takes no longer than an event may.
/// `context` must outlive this object.
class EventTypeGate {
 public:
  explicit EventTypeGate(const Context& context);

  /// `path` is the event's path in the body, as in EventArrival. Costs one look-up for a type
  /// without a schema.
  [[nodiscard]] Parsed<void> check(const Event& event, const std::string& path);

 private:
  std::shared_ptr<const EventTypeCatalog> catalog_;
  const ApiOptions& options_;
  StepBudget budget_;
};

}  // namespace postrider::api
