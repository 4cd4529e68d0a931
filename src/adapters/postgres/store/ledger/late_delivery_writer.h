// Adds late deliveries, that is, deliveries of events that were published before. One object per
// transaction. Store thread only.
//
// The events are locked first. Of two nodes that add a delivery of one event to one webhook, the
// second sees that of the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "engine/batch.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/ledger/new_deliveries.h"
#include "adapters/postgres/store/ledger/sequences.h"
#include "adapters/postgres/store/ledger/stats_changes.h"

namespace postrider::postgres {

class LateDeliveryWriter {
 public:
  /// `batch` must outlive this object.
  explicit LateDeliveryWriter(const Batch& batch);

  void queue_reads(Session& session);
  /// Reads more if an event is still being fanned out.
  [[nodiscard]] Result<void> take(Session& session, const std::vector<Rows>& answers);

  struct Results {
    Sequences& sequences;
    NewDeliveries& deliveries;
    StatsChanges& stats;
  };
  /// Call with the receipts of the batch's publishes, after these were planned.
  void add_published(const std::vector<PublishReceipt>& receipts);
  /// Returns nullopt if the event is unknown or the webhook already has a delivery of it, or will
  /// get one from a note.
  [[nodiscard]] std::optional<Delivery> add(const AddLateDelivery& order, const Results& results);
  /// A delivery must have been added to the event.
  [[nodiscard]] const TenantId& tenant_of(EventId event) const { return events_.at(event); }

 private:
  /// Reads which webhooks get a delivery of an event from a note.
  [[nodiscard]] Result<void> read_notes(Session& session, const Rows& notes);

  const Batch& batch_;
  std::optional<std::size_t> first_answer_;
  std::map<EventId, TenantId> events_;               // Those that are stored, with their tenants.
  std::set<std::pair<EventId, WebhookId>> reached_;  // By a delivery or a note.
};

}  // namespace postrider::postgres
