// Reads and locks the deliveries that the settlements, revivals and cancels of a batch name. Store
// thread only.
//
// All transactions lock in the same order: first rows of the table waiting, then rows of the table
// delivery, each in the order of ids. A row moves between the tables while it is locked, so a
// delivery that is found in neither is looked for again.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "engine/batch.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/ledger/delivery_changes.h"

namespace postrider::postgres {

class NamedDeliveries {
 public:
  explicit NamedDeliveries(const Batch& batch);

  /// Queues the reads that almost always find all deliveries.
  void queue(Session& session);
  /// Adds what was found. Reads more if something is missing.
  [[nodiscard]] Result<void> take(Session& session, const std::vector<Rows>& answers,
                                  const std::vector<Settlement>& settlements,
                                  DeliveryChanges& changes);

 private:
  [[nodiscard]] Result<void> find_missing(Session& session, DeliveryChanges& changes) const;

  std::vector<DeliveryId> ids_;           // Of all named deliveries. Sorted.
  std::vector<DeliveryId> likely_final_;  // Sorted.
  std::optional<std::size_t> waiting_answer_;
  std::optional<std::size_t> final_answer_;
};

}  // namespace postrider::postgres
