// What the shards and the metrics must learn of a committed batch.
#pragma once

#include "ports/ledger.h"

#include "runtime/observability/metrics.h"
#include "runtime/store/shard_replies.h"

namespace postrider {

/// Admits the deliveries of a stored event to their lanes and hands the event to their shards.
void admit_event(const EventRef& event, const std::vector<Delivery>& deliveries,
                 RepliesByShard& replies);

/// Admits the deliveries of an accepted publish to their lanes and hands the event to their shards.
void admit_deliveries(Publish& publish, const Accepted& accepted, RepliesByShard& replies);

/// Admits revived and late deliveries to their lanes and removes cancelled ones.
void notify_lanes(const BatchReceipt& receipt, RepliesByShard& replies);

/// Counts the batch's changes to dead letters and waiting deliveries.
void count_changes(const BatchReceipt& receipt, Metrics& metrics);

}  // namespace postrider
