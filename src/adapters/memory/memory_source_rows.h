// The tracked rows of sources, in the memory store. Hold the store's mutex.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "ports/claims.h"

#include "adapters/memory/memory_store.h"

namespace postrider {

/// What a repeated publish of this event is told, without `same_body`.
[[nodiscard]] inline Duplicate duplicate_of(const MemoryStore& store, std::int64_t event_sequence) {
  const MemoryEvent& first = store.events.at(event_sequence);
  const auto waits = [&](std::int64_t sequence) {
    const auto row = store.deliveries.find(sequence);  // Retention may have removed it.
    return row != store.deliveries.end() && is_waiting(row->second.delivery.state);
  };
  return {
      .first_id = first.event->id,
      .first_deliveries = static_cast<std::uint32_t>(first.deliveries.size()) + first.fanned_out,
      .finished = std::ranges::none_of(first.deliveries, waits) &&
                  std::ranges::none_of(first.late, waits) &&
                  !store.fanouts.contains({first.event->tenant_id, event_sequence})};
}

[[nodiscard]] inline std::optional<StoredRow> find_source_row(const MemoryStore& store,
                                                              const SourceRow& row) {
  const auto found = store.source_rows.find({row.source, row.row_id});
  if (found == store.source_rows.end()) {
    return std::nullopt;
  }
  return StoredRow{.generation = found->second.generation,
                   .settled = found->second.settled,
                   .first = duplicate_of(store, found->second.event_sequence)};
}

/// Does nothing if the publish has no row. Replaces the event that the row became before.
inline void track_source_row(MemoryStore& store, const Publish& publish, EventId event_id) {
  if (publish.row) {
    store.source_rows[{publish.row->source, publish.row->row_id}] = {
        .event_sequence = store.event_sequences.at(event_id),
        .generation = publish.row->generation};
  }
}

/// A delivery of the event has left a final state.
inline void unsettle_source_rows(MemoryStore& store, EventId event_id) {
  const std::int64_t event = store.event_sequences.at(event_id);
  for (auto& [key, row] : store.source_rows) {
    if (row.event_sequence == event) {
      row.settled = false;
      ++row.revision;
    }
  }
}

}  // namespace postrider
