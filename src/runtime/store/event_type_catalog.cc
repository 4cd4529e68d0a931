#include "runtime/store/event_type_catalog.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/model/event.h"
#include "core/model/system_event_types.h"

#include "runtime/observability/attempt_log.h"
#include "runtime/store/idempotent_request.h"

namespace postrider {

EventTypeCatalog::EventTypeCatalog(const std::vector<EventTypeRef>& types) {
  types_.reserve(types.size());
  for (const EventTypeRef& type : types) {
    types_.emplace(type->type.name, type);
  }
}

EventTypeRef EventTypeCatalog::find(const std::string& name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : found->second;
}

std::vector<EventTypeRef> EventTypeCatalog::in_name_order() const {
  std::vector<EventTypeRef> types;
  types.reserve(types_.size());
  for (const auto& [name, type] : types_) {
    types.push_back(type);
  }
  std::ranges::sort(types, {}, [](const EventTypeRef& type) { return type->type.name; });
  return types;
}

EventTypeCatalog EventTypeCatalog::with(EventTypeRef type) const {
  EventTypeCatalog changed = *this;
  const std::string& name = type->type.name;
  changed.types_.insert_or_assign(name, std::move(type));
  return changed;
}

EventTypeCatalog EventTypeCatalog::without(const std::string& name) const {
  EventTypeCatalog changed = *this;
  changed.types_.erase(name);
  return changed;
}

Result<EventTypeRef> EventTypeChanges::change(Store& store, const Change& change,
                                              const AuditEntry& entry,
                                              const std::optional<RequestKey>& key) {
  const std::string& name = change.name;
  const std::shared_ptr<const EventTypeCatalog> catalog = catalog_.get();
  const EventTypeRef current = catalog->find(name);
  POSTRIDER_TRY(EventTypeRef changed, change.edit(current));
  if (changed && !current && catalog->size() >= event_types_max) {
    return fail(Errc::conflict, fmt::format("There are {} event types already, which is the limit; "
                                            "delete one first.",
                                            event_types_max));
  }
  const auto write = [&]() -> Result<void> {
    EventTypes& types = *store.event_types;
    POSTRIDER_CHECK(take_request_key(store, key, name, entry.at));
    POSTRIDER_CHECK(changed ? types.put(changed->type) : types.remove(name));
    return store.audit->append(entry);
  };
  POSTRIDER_CHECK(store.atomically(write));
  catalog_.replace(changed ? catalog->with(changed) : catalog->without(name));
  return changed;
}

Result<EventTypeCatalog> load_event_types(EventTypes& store, const MakeSchemaCheck& make_check) {
  POSTRIDER_TRY(std::vector<EventType> stored, store.load());
  std::erase_if(stored, [](const EventType& type) { return is_reserved_type(type.name); });
  std::vector<EventTypeRef> types;
  types.reserve(stored.size());
  for (EventType& type : stored) {
    KnownEventType known{.type = std::move(type), .check = nullptr, .schema_fault = {}};
    if (known.type.schema) {
      Result<std::unique_ptr<const SchemaCheck>> check = make_check(*known.type.schema);
      if (check) {
        known.check = *std::move(check);
      } else {
        spdlog::error("event_type.schema_unusable name={} reason=\"{}\" next=\"events refused\"",
                      known.type.name, log_safe(check.error().message));
        known.schema_fault = std::move(check.error().message);
      }
    }
    types.push_back(std::make_shared<const KnownEventType>(std::move(known)));
  }
  for (const EventType& type : system_event_types()) {
    // Needs no check: such events are not accepted.
    types.push_back(std::make_shared<const KnownEventType>(
        KnownEventType{.type = type, .check = nullptr, .schema_fault = {}}));
  }
  return EventTypeCatalog{types};
}

}  // namespace postrider
