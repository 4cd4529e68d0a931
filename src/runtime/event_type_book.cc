#include "runtime/event_type_book.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "runtime/attempt_log.h"
#include "runtime/once.h"

namespace postrider {

EventTypeBook::EventTypeBook(const std::vector<EventTypeRef>& types) {
  types_.reserve(types.size());
  for (const EventTypeRef& type : types) {
    types_.emplace(type->type.name, type);
  }
}

EventTypeRef EventTypeBook::find(const std::string& name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? nullptr : found->second;
}

std::vector<EventTypeRef> EventTypeBook::in_name_order() const {
  std::vector<EventTypeRef> types;
  types.reserve(types_.size());
  for (const auto& [name, type] : types_) {
    types.push_back(type);
  }
  std::ranges::sort(types, {}, [](const EventTypeRef& type) { return type->type.name; });
  return types;
}

EventTypeBook EventTypeBook::with(EventTypeRef type) const {
  EventTypeBook changed = *this;
  const std::string& name = type->type.name;
  changed.types_.insert_or_assign(name, std::move(type));
  return changed;
}

EventTypeBook EventTypeBook::without(const std::string& name) const {
  EventTypeBook changed = *this;
  changed.types_.erase(name);
  return changed;
}

Result<EventTypeRef> EventTypeDesk::change(Store& store, const std::string& name,
                                           const EventTypeEdit& edit, const AuditEntry& entry) {
  const std::shared_ptr<const EventTypeBook> book = book_.get();
  const EventTypeRef current = book->find(name);
  POSTRIDER_TRY(EventTypeRef changed, edit(current));
  if (changed && !current && book->size() >= event_types_max) {
    return fail(Errc::conflict, fmt::format("There are {} event types already, which is the limit; "
                                            "delete one first.",
                                            event_types_max));
  }
  const auto write = [&]() -> Result<void> {
    EventTypes& types = *store.event_types;
    POSTRIDER_CHECK(take_request_key(store, entry));
    POSTRIDER_CHECK(changed ? types.put(changed->type) : types.remove(name));
    return store.journal->append(entry);
  };
  POSTRIDER_CHECK(store.atomically(write));
  book_.replace(changed ? book->with(changed) : book->without(name));
  return changed;
}

Result<EventTypeBook> load_event_types(EventTypes& store, const MakeSchemaCheck& make_check) {
  POSTRIDER_TRY(std::vector<EventType> stored, store.load());
  std::vector<EventTypeRef> types;
  types.reserve(stored.size());
  for (EventType& type : stored) {
    KnownEventType known{.type = std::move(type), .check = nullptr};
    if (known.type.schema) {
      Result<std::unique_ptr<const SchemaCheck>> check = make_check(*known.type.schema);
      if (check) {
        known.check = *std::move(check);
      } else {
        spdlog::error("event_type.schema_unusable name={} reason=\"{}\" next=\"not checked\"",
                      known.type.name, log_safe(check.error().message));
      }
    }
    types.push_back(std::make_shared<const KnownEventType>(std::move(known)));
  }
  return EventTypeBook{types};
}

}  // namespace postrider
