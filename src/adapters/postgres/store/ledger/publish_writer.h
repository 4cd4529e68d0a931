// Writes the publishes of a batch: events, their deliveries and notes, idempotency claims and rows
// of sources. One object per transaction. Store thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/batch.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/ledger/claim_keys.h"
#include "adapters/postgres/store/ledger/event_columns.h"
#include "adapters/postgres/store/ledger/fanout_notes.h"
#include "adapters/postgres/store/ledger/new_deliveries.h"
#include "adapters/postgres/store/ledger/row_tracking.h"
#include "adapters/postgres/store/ledger/sequences.h"
#include "adapters/postgres/store/ledger/stats_changes.h"

namespace postrider::postgres {

class PublishWriter {
 public:
  /// `publishes` must outlive this object.
  explicit PublishWriter(std::span<const Publish> publishes);

  /// An upper bound of the sequences that the publishes use.
  [[nodiscard]] std::size_t sequences_needed() const;
  void queue_reads(Session& session);
  void take(const std::vector<Rows>& answers);

  struct Results {
    Sequences& sequences;
    NewDeliveries& deliveries;
    StatsChanges& stats;
    BatchReceipt& receipt;
  };
  /// Decides which publishes are stored. Adds their deliveries and one receipt per publish.
  void plan(const Results& results);

  /// Queues what must be stored before the events.
  void queue_first(Session& session) { claims_.queue_removal(session); }
  /// Adds the events and claims. Returns the number of new claims.
  std::size_t add_to(JoinedStatement& joined);
  /// Queues what must be stored after the events.
  void queue_last(Session& session);

 private:
  void plan_group(std::span<const Publish> group, const Results& results);
  [[nodiscard]] Accepted store(const Publish& publish, const Results& results);
  [[nodiscard]] Accepted store_with_note(const Publish& publish, const Results& results);
  void add_event(const Publish& publish, const EventPlace& place, const Results& results);

  std::span<const Publish> publishes_;
  ClaimKeys claims_;
  RowTracking rows_;
  FanoutNotes notes_;
  EventColumns events_;
};

}  // namespace postrider::postgres
