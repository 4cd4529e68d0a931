#include "main/configured_event_types.h"

#include <algorithm>

namespace postrider {

Result<void> add_missing_event_types(EventTypes& catalogue,
                                     const std::vector<config::EventTypeConfig>& wanted,
                                     WallTime now) {
  if (wanted.empty()) {
    return {};
  }
  POSTRIDER_TRY(const std::vector<EventType> known, catalogue.load());
  for (const config::EventTypeConfig& type : wanted) {
    if (std::ranges::find(known, type.name, &EventType::name) != known.end()) {
      continue;
    }
    EventType added{.name = type.name, .created_at = now, .updated_at = now};
    if (!type.description.empty()) {
      added.description = type.description;
    }
    POSTRIDER_CHECK(catalogue.put(added));
  }
  return {};
}

}  // namespace postrider
