// The rows of sources that a batch's publishes come from: see ports/source_rows.h. Store thread
// only.
//
// The tracked rows are read without a lock. If another node tracks the same row meanwhile, the
// insert fails with a duplicate key, and the transaction is run again.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "ports/claims.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

/// `publishes` must outlive this object.
class RowTracking {
 public:
  explicit RowTracking(std::span<const Publish> publishes);

  void queue_read(Session& session);
  void take(const std::vector<Rows>& answers);

  /// The row as the store tracks it, or as an earlier publish of the batch changed it.
  [[nodiscard]] std::optional<StoredRow> find(const SourceRow& row) const;
  /// Records that the publish's row has become `event`: its own event, or the first one with the
  /// same key. Does nothing if the publish has no row.
  void track(const Publish& publish, const Duplicate& event);

  /// Call after the events have been queued.
  void queue_writes(Session& session) const;

 private:
  using Key = std::pair<std::string_view, std::string_view>;  // Source and row id.
  struct Tracked {
    std::optional<EventId> stored_event;  // Of the row in the table.
    std::optional<StoredRow> row;         // As it will be stored.
    bool changed = false;
  };

  std::map<Key, Tracked> rows_;  // In the order in which all transactions write them.
  std::optional<std::size_t> answer_;
};

}  // namespace postrider::postgres
