// The catalogue of event types in memory: an immutable snapshot that publishing reads, replaced as
// a whole when an entry changes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
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
  SchemaCheckRef check;      // Null without a schema, or if the stored schema cannot be used.
  std::string schema_fault;  // Why it cannot. A sentence.
};
using EventTypeRef = std::shared_ptr<const KnownEventType>;

class EventTypeCatalog {
 public:
  EventTypeCatalog() = default;
  explicit EventTypeCatalog(const std::vector<EventTypeRef>& types);

  [[nodiscard]] EventTypeRef find(const std::string& name) const;  // Returns null if unknown.
  [[nodiscard]] std::size_t size() const { return types_.size(); }
  [[nodiscard]] std::vector<EventTypeRef> in_name_order() const;

  [[nodiscard]] EventTypeCatalog with(EventTypeRef type) const;
  [[nodiscard]] EventTypeCatalog without(const std::string& name) const;

 private:
  std::unordered_map<std::string, EventTypeRef> types_;
};

/// Returns the new entry for the current one. Null means no entry, for both.
using EventTypeEdit = std::function<Result<EventTypeRef>(const EventTypeRef& current)>;

/// Changes the store and then the snapshot. Store thread only, except `catalog`: any thread.
class EventTypeChanges {
 public:
  explicit EventTypeChanges(EventTypeCatalog catalog) : catalog_(std::move(catalog)) {}

  [[nodiscard]] std::shared_ptr<const EventTypeCatalog> catalog() const { return catalog_.get(); }

  /// Takes what another server on the same store has changed.
  void replace(EventTypeCatalog catalog) { catalog_.replace(std::move(catalog)); }

  /// Stored together with `entry` and `key`. Fails with whatever `edit` or the store fails with,
  /// and with conflict when there are event_types_max already.
  struct Change {
    const std::string& name;
    const EventTypeEdit& edit;
  };
  [[nodiscard]] Result<EventTypeRef> change(Store& store, const Change& change,
                                            const AuditEntry& entry,
                                            const std::optional<RequestKey>& key);

 private:
  Snapshot<EventTypeCatalog> catalog_;
};

/// Loads the catalogue from the store and adds the types of the server's own events, which replace
/// entries that are older than the reservation of their names. A schema that an earlier version
/// accepted and this one refuses is logged and kept as unusable.
[[nodiscard]] Result<EventTypeCatalog> load_event_types(EventTypes& store,
                                                        const MakeSchemaCheck& make_check);

}  // namespace postrider
