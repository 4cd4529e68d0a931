#include "adapters/postgres/store/ledger/batch_commit.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "ports/dead_letter_audit.h"

#include "adapters/postgres/store/ledger/batch_opening.h"
#include "adapters/postgres/store/ledger/circuit_store.h"
#include "adapters/postgres/store/ledger/delivery_writer.h"
#include "adapters/sql/admin/audit_writer.h"
#include "adapters/sql/admin/operation_row.h"

namespace postrider::postgres {
namespace {

// After this many new claims, up to twice as many expired ones are removed, so that the table
// shrinks after a burst.
constexpr std::size_t claims_per_cleanup = 500;

}  // namespace

BatchCommit::BatchCommit(const Batch& batch, const Parts& parts)
    : batch_(batch),
      parts_(parts),
      session_(parts.writer.session()),
      publishes_(batch.publishes),
      late_(batch),
      named_(batch),
      fence_(parts.held),
      handoff_(parts.held, fence_) {}

Result<BatchReceipt> BatchCommit::run() {
  POSTRIDER_CHECK(read());
  decide();
  POSTRIDER_CHECK(write());
  std::erase_if(receipt_.dead_letter_changes, [](const auto& each) { return each.second == 0; });
  receipt_.waiting_change.remove_zeros();
  return std::move(receipt_);
}

/// The first exchange. The notes are read before sequences are taken: an event without a note must
/// have higher ones than the deliveries from the notes before it. The leases are checked before the
/// deliveries are read that the batch decides about.
Result<void> BatchCommit::read() {
  add_shards();
  publishes_.queue_reads(session_);
  BatchOpening opening;
  opening.queue(session_, fence_,
                {.version = batch_.catalog_seen && !batch_.publishes.empty(),
                 .sequences = publishes_.sequences_needed() + batch_.settlements.size() +
                              batch_.late_deliveries.size()});
  late_.queue_reads(session_);
  parts_.shapes.queue_reads(session_, batch_.settlements);
  named_.queue(session_);
  POSTRIDER_TRY(const std::vector<Rows> answers, session_.exchange());
  POSTRIDER_CHECK(opening.take(answers, fence_));
  outdated_ = opening.version() && opening.version() != batch_.catalog_seen;
  sequences_ = opening.sequences();
  publishes_.take(answers);
  POSTRIDER_CHECK(late_.take(session_, answers));
  POSTRIDER_CHECK(parts_.shapes.take(session_, answers, batch_.settlements));
  POSTRIDER_CHECK(named_.take(session_, answers, batch_.settlements, changes_));
  return check_named();
}

/// The shards that the batch names by their webhooks.
void BatchCommit::add_shards() {
  if (!parts_.held.has_joined()) {
    return;
  }
  for (const Publish& publish : batch_.publishes) {
    for (const Delivery& delivery : publish.deliveries) {
      fence_.add(shard_of(delivery.webhook_id));
    }
  }
  for (const Settlement& settlement : batch_.settlements) {
    fence_.add_decision(shard_of(settlement.delivery.webhook_id));
  }
  for (const AddLateDelivery& order : batch_.late_deliveries) {
    fence_.add(shard_of(order.delivery.webhook_id));
  }
  for (const SaveCircuit& circuit : batch_.circuits) {
    fence_.add_decision(shard_of(circuit.webhook_id));
  }
}

/// The webhooks of revivals and cancels are known only now.
Result<void> BatchCommit::check_named() {
  if (batch_.revivals.empty() && batch_.cancels.empty()) {
    return {};
  }
  for (const NamedDelivery& named : changes_.deliveries()) {
    fence_.add(shard_of(named.delivery.webhook_id));
  }
  return fence_.check(session_);
}

/// In the order that Batch states.
void BatchCommit::decide() {
  if (outdated_) {
    receipt_.publishes.assign(batch_.publishes.size(), Outdated{});
  } else {
    publishes_.plan({.sequences = sequences_,
                     .deliveries = new_deliveries_,
                     .stats = stats_,
                     .receipt = receipt_});
  }
  settle();
  for (const Revive& order : batch_.revivals) {
    add_named(order.delivery_id);
    receipt_.revivals.push_back(changes_.revive(order));
  }
  late_.add_published(receipt_.publishes);
  for (const AddLateDelivery& order : batch_.late_deliveries) {
    receipt_.late_deliveries.push_back(late_.add(
        order, {.sequences = sequences_, .deliveries = new_deliveries_, .stats = stats_}));
    if (const std::optional<Delivery>& late = receipt_.late_deliveries.back()) {
      ++receipt_.waiting_change[late_.tenant_of(late->event_id)][late->priority];
      changes_.unsettle(order.delivery.event_id);
    }
  }
  for (const Cancel& order : batch_.cancels) {
    add_named(order.delivery_id);
    receipt_.cancels.push_back(changes_.cancel(order));
  }
  hand_over();
}

/// What was decided under a lost lease is ignored.
void BatchCommit::settle() {
  for (const Settlement& settlement : batch_.settlements) {
    if (fence_.allows(shard_of(settlement.delivery.webhook_id))) {
      changes_.settle(settlement);
    }
  }
  receipt_.lost = fence_.lost();
}

/// What was added or changed for webhooks of other nodes.
void BatchCommit::hand_over() {
  if (!parts_.held.has_joined()) {
    return;
  }
  for (std::size_t i = 0; i < receipt_.publishes.size(); ++i) {
    if (const Accepted* const accepted = std::get_if<Accepted>(&receipt_.publishes[i])) {
      for (const Delivery& delivery : accepted->deliveries) {
        handoff_.add(delivery, batch_.publishes[i].event.tenant_id);
      }
    }
  }
  for (const Result<Delivery>& revived : receipt_.revivals) {
    if (revived) {
      handoff_.add(*revived, changes_.tenant_of(revived->id));
    }
  }
  for (const std::optional<Delivery>& late : receipt_.late_deliveries) {
    if (late) {
      handoff_.add(*late, late_.tenant_of(late->event_id));
    }
  }
  for (std::size_t i = 0; i < receipt_.cancels.size(); ++i) {
    const Result<Delivery>& cancelled = receipt_.cancels[i];
    if (cancelled && batch_.cancels[i].of == CancelOf::waiting) {
      handoff_.add_closed(*cancelled, changes_.tenant_of(cancelled->id));
    }
  }
  receipt_.handed_over = !handoff_.empty();
}

/// A revival or a cancel may name a delivery that the same batch adds.
void BatchCommit::add_named(DeliveryId id) {
  if (changes_.contains(id)) {
    return;
  }
  const auto add = [&](const Delivery& delivery, const NewDeliveries::Origin& origin) {
    names_added_ = true;
    changes_.add({.delivery = delivery,
                  .tenant_id = TenantId{origin.tenant_id},
                  .updated_at = origin.now,
                  .completed_at = {},
                  .dead = {},
                  .last_failure = {},
                  .last_http_status = {},
                  .operation = origin.operation});
  };
  for (std::size_t i = 0; i < receipt_.publishes.size(); ++i) {
    const Event& event = batch_.publishes[i].event;
    const Accepted* const accepted = std::get_if<Accepted>(&receipt_.publishes[i]);
    for (std::size_t n = 0; accepted != nullptr && n < accepted->deliveries.size(); ++n) {
      if (accepted->deliveries[n].id == id) {
        return add(accepted->deliveries[n],
                   {.tenant_id = event.tenant_id, .now = event.created_at});
      }
    }
  }
  for (std::size_t i = 0; i < receipt_.late_deliveries.size(); ++i) {
    const AddLateDelivery& order = batch_.late_deliveries[i];
    const std::optional<Delivery>& late = receipt_.late_deliveries[i];
    if (late && late->id == id) {
      return add(*late, {.tenant_id = late_.tenant_of(late->event_id),
                         .now = order.now,
                         .operation = order.operation});
    }
  }
}

/// The second exchange. Audit entries and outcomes of operations need further exchanges; COMMIT
/// then follows those.
Result<void> BatchCommit::write() {
  queue_writes();
  const bool has_audits = !batch_.audits.empty() ||
                          (!receipt_.new_dead_letters.empty() && parts_.writer.digest() != nullptr);
  if (!has_audits && receipt_.outcomes.empty()) {
    POSTRIDER_CHECK(parts_.writer.exchange_and_commit());
    return {};
  }
  POSTRIDER_CHECK(session_.exchange());
  POSTRIDER_CHECK(sql::add_to_operations(parts_.writer.database(), receipt_.outcomes));
  return append_audits();
}

/// What nearly every batch writes goes in one statement. New rows come before what refers to them.
void BatchCommit::queue_writes() {
  JoinedStatement joined;
  JoinedStatement of_added;  // Changes of deliveries that the batch itself adds.
  parts_.claims_added += publishes_.add_to(joined);
  std::move(new_deliveries_).add_to(joined);
  add_attempts(joined, changes_, parts_.shapes, sequences_);
  add_changed(names_added_ ? of_added : joined, changes_.deliveries());
  std::move(handoff_).add_to(joined);
  parts_.stats.add_to(joined, stats_);
  parts_.writer.add_mark(joined);
  publishes_.queue_first(session_);
  std::move(joined).queue(session_);
  std::move(of_added).queue(session_);
  parts_.shapes.queue_writes(session_);
  publishes_.queue_last(session_);
  queue_unsettling(session_, changes_.unsettled());
  queue_circuits(session_, batch_.circuits, fence_);
  if (parts_.claims_added >= claims_per_cleanup && !batch_.publishes.empty()) {
    queue_claim_cleanup(session_, batch_.publishes.back().event.created_at,
                        2 * parts_.claims_added);
    parts_.claims_added = 0;
  }
}

/// The chain of the audit log is locked last, and only by batches that append to it.
Result<void> BatchCommit::append_audits() {
  std::vector<AuditEntry> entries;
  if (parts_.writer.digest() != nullptr) {  // A store without a digest has no audit log.
    entries = dead_letter_entries(receipt_.new_dead_letters);
  }
  for (const BatchAudit& audit : batch_.audits) {
    if (audit_applies(audit, receipt_)) {
      entries.push_back(audit.entry);
    }
  }
  return entries.empty() ? Result<void>{} : sql::append_audits(parts_.writer, entries);
}

}  // namespace postrider::postgres
