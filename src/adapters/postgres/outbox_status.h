// The mode `status`: the application reads in its own table what became of each row.
//
// A row is claimed, stored as an event, and marked as handed over to this node. From then on the
// node that has it writes its status back, until the status is final. Several nodes share a table.
// Servers that share a store are one node.
#pragma once

#include <memory>

#include "core/base/time.h"
#include "ports/event_source.h"
#include "ports/row_status_sink.h"

#include "adapters/postgres/outbox_source.h"

namespace postrider {

/// `options.node` must be the same after a restart: a node takes back the rows that it had claimed
/// and not handed over, which others may do only when the claim has expired.
[[nodiscard]] std::unique_ptr<EventSource> make_outbox_status_source(OutboxOptions options);

struct StatusWriterWaits {
  Millis others_max{2'000};  // For the writes of other servers.
  /// Between two statements of a transaction. A server that was suspended in between, and keeps the
  /// others from writing, loses its connection.
  Millis idle_max{10'000};
};

/// Writes the status of the rows that were handed over to `options.node`.
[[nodiscard]] std::unique_ptr<RowStatusSink> make_outbox_status_sink(
    OutboxOptions options, const StatusWriterWaits& waits = {});

}  // namespace postrider
