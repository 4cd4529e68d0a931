// The catalogue of event types in memory: an immutable snapshot that publishing looks into,
// replaced as a whole when an entry changes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/model/event_type.h"
#include "ports/event_types.h"
#include "ports/schema_check.h"
#include "ports/store.h"

#include "runtime/store/snapshot.h"

namespace postrider {

constexpr std::size_t event_types_max = 10'000;  // Each change copies the table of pointers.

using SchemaCheckRef = std::shared_ptr<const SchemaCheck>;

struct KnownEventType {
  EventType type;
  SchemaCheckRef check;  // Null without a schema.
};
using EventTypeRef = std::shared_ptr<const KnownEventType>;

class EventTypeCatalog {
 public:
  EventTypeCatalog() = default;
  explicit EventTypeCatalog(const std::vector<EventTypeRef>& types);

  [[nodiscard]] EventTypeRef find(const std::string& name) const;  // Null when there is none.
  [[nodiscard]] std::size_t size() const { return types_.size(); }
  [[nodiscard]] std::vector<EventTypeRef> in_name_order() const;

  [[nodiscard]] EventTypeCatalog with(EventTypeRef type) const;
  [[nodiscard]] EventTypeCatalog without(const std::string& name) const;

 private:
  std::unordered_map<std::string, EventTypeRef> types_;
};

/// From what there is, null when there is nothing, to what there is to be; null removes it.
using EventTypeEdit = std::function<Result<EventTypeRef>(const EventTypeRef& current)>;

/// Keeps the snapshot and the store in step. `catalog` is for any thread, the rest for the store
/// thread.
class EventTypeChanges {
 public:
  explicit EventTypeChanges(EventTypeCatalog catalog) : catalog_(std::move(catalog)) {}

  [[nodiscard]] std::shared_ptr<const EventTypeCatalog> catalog() const { return catalog_.get(); }

  /// Stored together with `entry`. Fails with whatever `edit` or the store fails with, and with
  /// conflict when there are event_types_max already.
  [[nodiscard]] Result<EventTypeRef> change(Store& store, const std::string& name,
                                            const EventTypeEdit& edit, const AuditEntry& entry);

 private:
  Snapshot<EventTypeCatalog> catalog_;
};

/// Everything in the store. A schema that cannot be compiled any more is logged, and its events are
/// not checked.
[[nodiscard]] Result<EventTypeCatalog> load_event_types(EventTypes& store,
                                                        const MakeSchemaCheck& make_check);

}  // namespace postrider
