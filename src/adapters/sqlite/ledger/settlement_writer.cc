#include "adapters/sqlite/ledger/settlement_writer.h"

#include <algorithm>
#include <utility>

#include "adapters/sqlite/ledger/attempt_detail.h"
#include "adapters/sqlite/ledger/rows.h"

namespace postrider::sqlite {
namespace {

// A delivery that is final, has had later attempts, or was revived meanwhile stays as it is; a
// success is what the reviver wanted.
constexpr std::string_view move_after_attempt_sql = R"sql(
  UPDATE delivery
     SET state = ?4, trigger = ?5, due = ?6, budget_used = ?7, updated_at = ?8, completed_at = ?9,
         dead_classification = ?10, dead_reason = ?11,
         attempt_count = ?12, last_failure = ?13, last_http_status = ?14
   WHERE sequence = ?1 AND id = ?2 AND state <= 1 AND attempt_count <= ?3
     AND (revivals <= ?15 OR ?4 = 2)
)sql";

constexpr std::string_view move_sql = R"sql(
  UPDATE delivery
     SET state = ?4, trigger = ?5, due = ?6, budget_used = ?7, updated_at = ?8, completed_at = ?9,
         dead_classification = ?10, dead_reason = ?11,
         attempt_count = ?3
   WHERE sequence = ?1 AND id = ?2 AND state <= 1 AND attempt_count <= ?3
     AND (revivals <= ?12 OR ?4 = 2)
)sql";

constexpr std::string_view attempt_count_sql = R"sql(
  SELECT attempt_count FROM delivery WHERE sequence = ?1 AND id = ?2
)sql";

constexpr std::string_view note_attempt_sql = R"sql(
  UPDATE delivery SET attempt_count = ?2, last_failure = ?3, last_http_status = ?4
   WHERE sequence = ?1
)sql";

// It was cancelled while its receiver was about to accept it: what happened has the last word.
constexpr std::string_view accept_all_the_same_sql = R"sql(
  UPDATE delivery SET state = 2, updated_at = ?2, completed_at = ?2, dead_classification = NULL,
         dead_reason = NULL
   WHERE sequence = ?1 AND state = 4
)sql";

constexpr std::string_view insert_attempt_sql = R"sql(
  INSERT OR IGNORE INTO attempt (delivery, number, previous_delivery, previous_number, id,
                                 executed_at, duration_us, trigger, scheduled_at, next_retry_at,
                                 failure_category, http_status, detail)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
)sql";

constexpr std::string_view find_sql =
    "SELECT " POSTRIDER_DELIVERY_COLUMNS " FROM delivery d WHERE d.id = ?1";

constexpr std::string_view find_tenant_sql = "SELECT tenant FROM delivery WHERE sequence = ?1";

constexpr std::string_view revive_sql = R"sql(
  UPDATE delivery
     SET state = ?2, trigger = ?3, priority = ?4, due = ?5, budget_used = 0, updated_at = ?5,
         completed_at = NULL, dead_classification = NULL, dead_reason = NULL,
         revivals = revivals + 1,
         ordered = (SELECT l.ordered FROM lane l WHERE l.lane = delivery.lane)
   WHERE sequence = ?1
)sql";

constexpr std::string_view cancel_sql = R"sql(
  UPDATE delivery SET state = 4, updated_at = ?2, completed_at = ?2 WHERE sequence = ?1
)sql";

constexpr std::string_view tenant_sql = R"sql(
  SELECT t.name FROM delivery d JOIN tenant t ON t.tenant = d.tenant WHERE d.sequence = ?1
)sql";

constexpr std::string_view save_circuit_sql = R"sql(
  INSERT OR REPLACE INTO circuit (webhook_id, state, openings_in_row, changed_at, open_until,
                                  forced_until, forced_open, failing_since)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM webhook WHERE id = ?1)
)sql";

}  // namespace

Result<SettlementWriter> SettlementWriter::open(Writer::Session& session) {
  POSTRIDER_TRY(RequestShapeCache shapes, RequestShapeCache::open(session.database, session.vault));
  SettlementWriter settling{session, std::move(shapes)};
  POSTRIDER_CHECK(session.database.prepare_all({
      {&settling.move_after_attempt_, move_after_attempt_sql},
      {&settling.move_, move_sql},
      {&settling.attempt_count_, attempt_count_sql},
      {&settling.note_attempt_, note_attempt_sql},
      {&settling.accept_all_the_same_, accept_all_the_same_sql},
      {&settling.insert_attempt_, insert_attempt_sql},
      {&settling.find_, find_sql},
      {&settling.find_tenant_, find_tenant_sql},
      {&settling.revive_, revive_sql},
      {&settling.cancel_, cancel_sql},
      {&settling.tenant_, tenant_sql},
      {&settling.save_circuit_, save_circuit_sql},
  }));
  return settling;
}

Result<void> SettlementWriter::settle(const Settlement& settlement, BatchReceipt& receipt) {
  const Delivery& delivery = settlement.delivery;
  POSTRIDER_TRY(const bool moved, move(settlement));
  const bool died = moved && delivery.state == DeliveryState::dead_letter;
  if (died) {
    POSTRIDER_CHECK(count_dead(delivery.sequence, 1, receipt));
  }
  if (moved && !is_waiting(delivery.state)) {
    --receipt.waiting_change;
  }
  bool known = true;
  if (settlement.attempt && !moved) {
    POSTRIDER_TRY(known, note_late_attempt(settlement));
  }
  bool recorded = false;
  if (settlement.attempt && known) {
    POSTRIDER_TRY(recorded, record_attempt(settlement));
  }
  POSTRIDER_CHECK(count(settlement, recorded ? &*settlement.attempt : nullptr, died));
  return moved ? Result<void>{} : note_revived(delivery, receipt);
}

/// Was the delivery left alone because it was revived after the attempt began?
Result<void> SettlementWriter::note_revived(const Delivery& settled, BatchReceipt& receipt) {
  POSTRIDER_TRY(std::optional<Delivery> stored, find(settled.id));
  const bool revived = stored && stored->sequence == settled.sequence &&
                       is_waiting(stored->state) && settled.revivals < stored->revivals &&
                       settled.state != DeliveryState::succeeded;
  if (revived) {
    receipt.revived_meanwhile.push_back(*std::move(stored));
  }
  return {};
}

Result<void> SettlementWriter::count_dead(std::int64_t sequence, int change,
                                          BatchReceipt& receipt) {
  Query query = tenant_.query(sequence);
  POSTRIDER_TRY(const bool found, query.next());
  if (found) {
    receipt.dead_letter_changes[query.text(0)] += change;
  }
  return {};
}

/// False when the delivery does not wait, has had later attempts, or is unknown.
Result<bool> SettlementWriter::move(const Settlement& settlement) {
  const Delivery& delivery = settlement.delivery;
  const WallTime at = settled_at(settlement);
  std::optional<WallTime> completed_at;
  if (!is_waiting(delivery.state)) {
    completed_at = at;
  }
  std::optional<Classification> dead_classification;
  std::optional<std::string_view> dead_reason;
  if (delivery.state == DeliveryState::dead_letter && settlement.dead) {
    dead_classification = settlement.dead->classification;
    dead_reason = settlement.dead->reason;
  }
  if (settlement.attempt) {
    const Attempt& attempt = *settlement.attempt;
    POSTRIDER_CHECK(move_after_attempt_.run(
        delivery.sequence, delivery.id, delivery.attempt_count, delivery.state, delivery.trigger,
        delivery.due, delivery.budget_used, at, completed_at, dead_classification, dead_reason,
        std::max(delivery.attempt_count, attempt.number), attempt.failure_category,
        attempt.outcome.http_status, delivery.revivals));
  } else {
    POSTRIDER_CHECK(move_.run(delivery.sequence, delivery.id, delivery.attempt_count,
                              delivery.state, delivery.trigger, delivery.due, delivery.budget_used,
                              at, completed_at, dead_classification, dead_reason,
                              delivery.revivals));
  }
  return session_->database.changes() > 0;
}

/// False when the delivery is unknown.
Result<bool> SettlementWriter::note_late_attempt(const Settlement& settlement) {
  const Delivery& delivery = settlement.delivery;
  const Attempt& attempt = *settlement.attempt;
  std::uint32_t attempt_count = 0;
  {
    Query query = attempt_count_.query(delivery.sequence, delivery.id);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return false;
    }
    attempt_count = query.as<std::uint32_t>(0);
  }
  if (attempt.number > attempt_count) {
    POSTRIDER_CHECK(note_attempt_.run(delivery.sequence, attempt.number, attempt.failure_category,
                                      attempt.outcome.http_status));
  }
  if (delivery.state == DeliveryState::succeeded) {
    POSTRIDER_CHECK(accept_all_the_same_.run(delivery.sequence, settled_at(settlement)));
  }
  return true;
}

/// False when it was recorded before, or for another webhook's delivery.
Result<bool> SettlementWriter::record_attempt(const Settlement& settlement) {
  const Delivery& delivery = settlement.delivery;
  const Attempt& attempt = *settlement.attempt;
  POSTRIDER_TRY(LaneEntry * lane, session_->lanes.find(delivery.webhook_id));
  if (lane == nullptr) {
    return false;  // The settlement names a webhook that is not the delivery's.
  }
  POSTRIDER_TRY(const std::uint32_t shape,
                shapes_.number_of(settlement.request, delivery, *lane, session_->next_sequence));
  detail_.clear();
  pack_detail(attempt.outcome, shape, detail_);
  POSTRIDER_CHECK(insert_attempt_.run(
      delivery.sequence, attempt.number, lane->last_attempt_delivery, lane->last_attempt_number,
      attempt.id, attempt.outcome.executed_at, attempt.outcome.duration, attempt.trigger,
      attempt.scheduled_at, attempt.next_retry_at, attempt.failure_category,
      attempt.outcome.http_status, Blob{detail_}));
  if (session_->database.changes() == 0) {
    return false;
  }
  lane->last_attempt_delivery = delivery.sequence;
  lane->last_attempt_number = attempt.number;
  std::optional<WallTime>& latest =
      attempt.failure_category ? lane->last_failure_at : lane->last_success_at;
  const WallTime at = attempt.outcome.executed_at;
  latest = std::max(latest.value_or(at), at);
  session_->lanes.note_change(*lane);
  return true;
}

/// `attempt` is null when nothing was recorded.
Result<void> SettlementWriter::count(const Settlement& settlement, const Attempt* attempt,
                                     bool died) {
  if (attempt == nullptr && !died) {
    return {};
  }
  POSTRIDER_TRY(LaneEntry * lane, session_->lanes.find(settlement.delivery.webhook_id));
  if (lane == nullptr) {
    return {};
  }
  const WallTime at = settled_at(settlement);
  std::int64_t tenant = lane->tenant.value_or(0);
  if (!lane->tenant) {
    POSTRIDER_TRY(tenant, tenant_of(settlement.delivery));
  }
  POSTRIDER_TRY(DeliveryTally * of_lane, session_->stats.of_lane(*lane, tenant, at));
  POSTRIDER_TRY(DeliveryTally * of_tenant, session_->stats.of_tenant(tenant, at));
  for (DeliveryTally* tally : {of_lane, of_tenant}) {
    if (attempt != nullptr) {
      tally->add(*attempt);
    }
    tally->dead_letters += died ? 1 : 0;
  }
  session_->lanes.note_change(*lane);
  return {};
}

/// For the rare lane whose deliveries are of several tenants.
Result<std::int64_t> SettlementWriter::tenant_of(const Delivery& delivery) {
  Query query = find_tenant_.query(delivery.sequence);
  POSTRIDER_TRY(const bool found, query.next());
  return found ? query.integer(0) : 0;
}

Result<std::optional<Delivery>> SettlementWriter::find(DeliveryId id) {
  Query query = find_.query(id);
  POSTRIDER_TRY(const bool found, query.next());
  return found ? std::optional{read_delivery(query)} : std::nullopt;
}

Result<Result<Delivery>> SettlementWriter::revive(const Revive& order, BatchReceipt& receipt) {
  POSTRIDER_TRY(std::optional<Delivery> delivery, find(order.delivery_id));
  if (!delivery) {
    return Result<Delivery>{fail(Errc::not_found, "There is no such delivery.")};
  }
  if (has_moved_on(*delivery, order.only_if)) {
    return Result<Delivery>{fail(Errc::conflict, "The delivery has moved on.")};
  }
  if (delivery->state == DeliveryState::dead_letter) {
    POSTRIDER_CHECK(count_dead(delivery->sequence, -1, receipt));
  }
  if (!is_waiting(delivery->state)) {
    delivery->state = DeliveryState::pending;
    ++receipt.waiting_change;
  }
  ++delivery->revivals;
  delivery->due = order.now;
  delivery->budget_used = 0;
  delivery->trigger = order.trigger;
  delivery->priority = order.priority.value_or(delivery->priority);
  POSTRIDER_CHECK(revive_.run(delivery->sequence, delivery->state, delivery->trigger,
                              delivery->priority, delivery->due));
  return Result<Delivery>{*std::move(delivery)};
}

Result<Result<Delivery>> SettlementWriter::cancel(const Cancel& order, BatchReceipt& receipt) {
  POSTRIDER_TRY(std::optional<Delivery> delivery, find(order.delivery_id));
  if (!delivery) {
    return Result<Delivery>{fail(Errc::not_found, "There is no such delivery.")};
  }
  if (!may_cancel(*delivery, order)) {
    return Result<Delivery>{fail(Errc::conflict, "The delivery is final already.")};
  }
  if (delivery->state == DeliveryState::dead_letter) {
    POSTRIDER_CHECK(count_dead(delivery->sequence, -1, receipt));
  } else {
    --receipt.waiting_change;
  }
  delivery->state = DeliveryState::cancelled;
  POSTRIDER_CHECK(cancel_.run(delivery->sequence, order.now));
  return Result<Delivery>{*std::move(delivery)};
}

Result<void> SettlementWriter::save_circuit(const SaveCircuit& circuit) {
  const CircuitRecord& record = circuit.record;
  return save_circuit_.run(circuit.webhook_id, record.state, record.openings_in_row,
                           record.changed_at, record.open_until, record.forced_until,
                           record.forced_open, record.failing_since);
}

}  // namespace postrider::sqlite
