#include "adapters/sqlite/ledger/settlement_writer.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/stored/attempt_detail.h"
#include "ports/settlement_rule.h"

#include "adapters/sql/state_sql.h"
#include "adapters/sqlite/ledger/rows.h"
#include "adapters/sqlite/ledger/source_row_sql.h"

namespace postrider::sqlite {
namespace {

// A settlement applies if the stored delivery is the same delivery (sequence and id), waits, has
// had no later attempts, and is in the same life. This is `applies` in ports/settlement_rule.h,
// except for a settlement of another life, which is rare: settle_unapplied asks the rule.
#define POSTRIDER_SETTLEMENT_APPLIES                             \
  " WHERE sequence = ?1 AND id = ?2 AND state <= {last_waiting}" \
  " AND attempt_count <= ?3 AND revivals = ?12"

constexpr auto apply_with_attempt_sql = sql::with_states(R"sql(
  UPDATE delivery
     SET state = ?4, trigger = ?5, due = ?6, budget_used = ?7, updated_at = ?8, completed_at = ?9,
         dead_classification = ?10, dead_reason = ?11,
         attempt_count = ?13, last_failure = ?14, last_http_status = ?15
)sql" POSTRIDER_SETTLEMENT_APPLIES);

constexpr auto apply_sql = sql::with_states(R"sql(
  UPDATE delivery
     SET state = ?4, trigger = ?5, due = ?6, budget_used = ?7, updated_at = ?8, completed_at = ?9,
         dead_classification = ?10, dead_reason = ?11,
         attempt_count = ?3
)sql" POSTRIDER_SETTLEMENT_APPLIES);

constexpr std::string_view set_last_attempt_sql = R"sql(
  UPDATE delivery SET attempt_count = ?2, last_failure = ?3, last_http_status = ?4
   WHERE sequence = ?1
)sql";

constexpr auto succeed_cancelled_sql = sql::with_states(R"sql(
  UPDATE delivery SET state = {succeeded}, updated_at = ?2, completed_at = ?2,
         dead_classification = NULL, dead_reason = NULL
   WHERE sequence = ?1
)sql");

// Each attempt number of a delivery is recorded once.
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
         revivals = revivals + 1, operation = iif(?6, coalesce(?7, operation), NULL),
         ordered = (SELECT l.ordered FROM lane l WHERE l.lane = delivery.lane)
   WHERE sequence = ?1
)sql";

constexpr auto cancel_sql = sql::with_states(R"sql(
  UPDATE delivery SET state = {cancelled}, updated_at = ?2, completed_at = ?2,
         operation = iif(?3, operation, NULL)
   WHERE sequence = ?1
)sql");

constexpr std::string_view operation_sql = "SELECT operation FROM delivery WHERE sequence = ?1";

constexpr std::string_view completion_sql =
    "SELECT completed_at, tenant FROM delivery WHERE sequence = ?1";

constexpr std::string_view tenant_sql = R"sql(
  SELECT t.name FROM delivery d JOIN tenant t ON t.tenant = d.tenant WHERE d.sequence = ?1
)sql";

}  // namespace

Result<SettlementWriter> SettlementWriter::open(Writer::Session& session) {
  POSTRIDER_TRY(RequestShapeCache shapes, RequestShapeCache::open(session.database, session.vault));
  SettlementWriter writer{session, std::move(shapes)};
  POSTRIDER_CHECK(session.database.prepare_all({
      {&writer.apply_with_attempt_, apply_with_attempt_sql},
      {&writer.apply_, apply_sql},
      {&writer.set_last_attempt_, set_last_attempt_sql},
      {&writer.succeed_cancelled_, succeed_cancelled_sql},
      {&writer.insert_attempt_, insert_attempt_sql},
      {&writer.find_, find_sql},
      {&writer.find_tenant_, find_tenant_sql},
      {&writer.revive_, revive_sql},
      {&writer.cancel_, cancel_sql},
      {&writer.operation_, operation_sql},
      {&writer.completion_, completion_sql},
      {&writer.tenant_, tenant_sql},
      {&writer.unsettle_rows_, unsettle_rows_sql},
  }));
  return writer;
}

Result<void> SettlementWriter::settle(const Settlement& settlement, BatchReceipt& receipt) {
  const Delivery& delivery = settlement.delivery;
  POSTRIDER_TRY(const bool applied, apply(settlement, delivery.revivals));
  // Not revived since it was loaded, so its operation and priority are the stored ones.
  return applied ? finish(settlement, delivery, receipt) : settle_unapplied(settlement, receipt);
}

/// The rest of a settlement that was applied. `stored` is the delivery as it was stored before.
Result<void> SettlementWriter::finish(const Settlement& settlement, const Delivery& stored,
                                      BatchReceipt& receipt) {
  const Delivery& delivery = settlement.delivery;
  if (delivery.state == DeliveryState::dead_letter) {
    POSTRIDER_TRY(TenantId tenant_id, count_dead_letter(delivery.sequence, 1, receipt));
    receipt.new_dead_letters.push_back(new_dead_letter(settlement, std::move(tenant_id)));
  }
  if (!is_waiting(delivery.state)) {
    POSTRIDER_TRY(PriorityCounts * waiting_change, waiting_change_of(stored, receipt));
    --(*waiting_change)[stored.priority];
    if (stored.in_operation) {
      POSTRIDER_TRY(const std::optional<OperationId> operation, operation_of(delivery.sequence));
      if (operation) {
        receipt.outcomes[*operation].add(delivery.state, settled_at(settlement));
      }
    }
  }
  bool recorded = false;
  if (settlement.attempt) {
    POSTRIDER_TRY(recorded, record_attempt(settlement));
  }
  return add_to_stats(settlement, recorded ? &*settlement.attempt : nullptr, delivery.state);
}

/// The rare settlement that does not apply, or belongs to an earlier life.
Result<void> SettlementWriter::settle_unapplied(const Settlement& settlement,
                                                BatchReceipt& receipt) {
  POSTRIDER_TRY(std::optional<Delivery> stored, find(settlement.delivery.id));
  if (!stored) {
    return {};
  }
  const SettlementDecision decision = decide_settlement(settlement, *stored);
  if (decision.effect == SettlementEffect::apply) {
    POSTRIDER_TRY(const bool applied, apply(settlement, stored->revivals));
    POSTRIDER_ASSERT(applied);
    return finish(settlement, *stored, receipt);
  }
  if (settlement.attempt && decision.is_last_attempt) {
    const Attempt& attempt = *settlement.attempt;
    POSTRIDER_CHECK(set_last_attempt_.run(stored->sequence, attempt.number,
                                          attempt.failure_category, attempt.outcome.http_status));
    stored->attempt_count = attempt.number;
  }
  std::optional<DeliveryState> reached;
  if (decision.effect == SettlementEffect::succeed_cancelled) {
    POSTRIDER_CHECK(succeed_cancelled_.run(stored->sequence, settled_at(settlement)));
    POSTRIDER_CHECK(unsettle_rows_.run(stored->sequence));
    reached = DeliveryState::succeeded;
    POSTRIDER_TRY(const std::optional<OperationId> operation, operation_of(stored->sequence));
    if (operation) {
      ++receipt.outcomes[*operation].revised;
    }
  }
  if (settlement.attempt && decision.record_attempt) {
    POSTRIDER_TRY(const bool recorded, record_attempt(settlement));
    POSTRIDER_CHECK(add_to_stats(settlement, recorded ? &*settlement.attempt : nullptr, reached));
  }
  if (decision.revived_meanwhile) {
    receipt.revived_meanwhile.push_back(*std::move(stored));
  }
  return {};
}

/// The change for the delivery's tenant.
Result<PriorityCounts*> SettlementWriter::waiting_change_of(const Delivery& delivery,
                                                            BatchReceipt& receipt) {
  POSTRIDER_TRY(const LaneEntry* lane, session_->lanes.find(delivery.webhook_id));
  std::int64_t tenant = lane != nullptr ? lane->tenant.value_or(0) : 0;
  if (tenant == 0) {
    POSTRIDER_TRY(tenant, tenant_of(delivery));
  }
  POSTRIDER_TRY(const std::string* name, session_->tenants.name_of(tenant));
  return &receipt.waiting_change[*name];
}

/// Returns the tenant of the delivery.
Result<TenantId> SettlementWriter::count_dead_letter(std::int64_t sequence, int change,
                                                     BatchReceipt& receipt) {
  Query query = tenant_.query(sequence);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return TenantId{};
  }
  TenantId tenant_id = query.text(0);
  receipt.dead_letter_changes[tenant_id] += change;
  return tenant_id;
}

/// The operation that counts the outcome of the delivery, or none.
Result<std::optional<OperationId>> SettlementWriter::operation_of(std::int64_t sequence) {
  Query query = operation_.query(sequence);
  POSTRIDER_TRY(const bool found, query.next());
  return found && !query.is_null(0) ? std::optional{query.id<OperationId>(0)} : std::nullopt;
}

/// False if the settlement does not apply. `revivals` are those of the stored delivery.
Result<bool> SettlementWriter::apply(const Settlement& settlement, std::uint32_t revivals) {
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
    POSTRIDER_CHECK(apply_with_attempt_.run(
        delivery.sequence, delivery.id, delivery.attempt_count, delivery.state, delivery.trigger,
        delivery.due, delivery.budget_used, at, completed_at, dead_classification, dead_reason,
        revivals, std::max(delivery.attempt_count, attempt.number), attempt.failure_category,
        attempt.outcome.http_status));
  } else {
    POSTRIDER_CHECK(apply_.run(delivery.sequence, delivery.id, delivery.attempt_count,
                               delivery.state, delivery.trigger, delivery.due, delivery.budget_used,
                               at, completed_at, dead_classification, dead_reason, revivals));
  }
  return session_->database.changes() > 0;
}

/// False if the attempt was already recorded, or if the webhook has no lane.
Result<bool> SettlementWriter::record_attempt(const Settlement& settlement) {
  const Delivery& delivery = settlement.delivery;
  const Attempt& attempt = *settlement.attempt;
  POSTRIDER_TRY(LaneEntry * lane, session_->lanes.find(delivery.webhook_id));
  if (lane == nullptr) {
    return false;
  }
  POSTRIDER_TRY(const std::uint32_t shape,
                shapes_.number_of(settlement.request, delivery, *lane, session_->next_sequence));
  detail_.clear();
  stored::pack_detail(attempt.outcome, shape, detail_);
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
  session_->lanes.mark_changed(*lane);
  return true;
}

/// Adds to the statistics. `attempt` is null if none was recorded, `reached` is the new state of
/// the delivery if it changed.
Result<void> SettlementWriter::add_to_stats(const Settlement& settlement, const Attempt* attempt,
                                            std::optional<DeliveryState> reached) {
  if (attempt == nullptr && (!reached || is_waiting(*reached))) {
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
    if (reached) {
      tally->dead_letters += reached == DeliveryState::dead_letter ? 1 : 0;
      tally->add_settled(*reached);
    }
  }
  session_->lanes.mark_changed(*lane);
  return {};
}

/// For the rare lane with deliveries of several tenants.
Result<std::int64_t> SettlementWriter::tenant_of(const Delivery& delivery) {
  Query query = find_tenant_.query(delivery.sequence);
  POSTRIDER_TRY(const bool found, query.next());
  return found ? query.integer(0) : 0;
}

/// Call before a settled delivery is revived or discarded.
Result<void> SettlementWriter::remove_from_stats(const Delivery& delivery) {
  WallTime completed_at;
  std::int64_t tenant = 0;
  {
    Query query = completion_.query(delivery.sequence);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found || query.is_null(0)) {
      return {};
    }
    completed_at = query.time(0);
    tenant = query.integer(1);
  }
  POSTRIDER_TRY(LaneEntry * lane, session_->lanes.find(delivery.webhook_id));
  if (lane == nullptr) {
    return {};
  }
  session_->lanes.mark_changed(*lane);
  return session_->stats.remove_settled(*lane, tenant, completed_at, delivery.state);
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
  if (has_changed_since(*delivery, order.only_if)) {
    return Result<Delivery>{fail(Errc::conflict, "The delivery has changed since.")};
  }
  if (delivery->state == DeliveryState::dead_letter) {
    POSTRIDER_CHECK(count_dead_letter(delivery->sequence, -1, receipt));
  }
  POSTRIDER_TRY(PriorityCounts * waiting_change, waiting_change_of(*delivery, receipt));
  if (is_waiting(delivery->state)) {
    --(*waiting_change)[delivery->priority];  // A revival may change the priority.
  } else {
    POSTRIDER_CHECK(remove_from_stats(*delivery));
  }
  const auto joined = is_waiting(delivery->state) ? std::nullopt : order.operation;
  delivery = revived(*std::move(delivery), order);
  ++(*waiting_change)[delivery->priority];
  POSTRIDER_CHECK(revive_.run(delivery->sequence, delivery->state, delivery->trigger,
                              delivery->priority, delivery->due, delivery->in_operation, joined));
  POSTRIDER_CHECK(unsettle_rows_.run(delivery->sequence));
  return Result<Delivery>{*std::move(delivery)};
}

Result<Result<Delivery>> SettlementWriter::cancel(const Cancel& order, BatchReceipt& receipt) {
  POSTRIDER_TRY(std::optional<Delivery> delivery, find(order.delivery_id));
  if (!delivery) {
    return Result<Delivery>{fail(Errc::not_found, "There is no such delivery.")};
  }
  if (!may_cancel(*delivery, order)) {
    return Result<Delivery>{fail(Errc::conflict, "The delivery is already final.")};
  }
  if (delivery->state == DeliveryState::dead_letter) {
    POSTRIDER_CHECK(count_dead_letter(delivery->sequence, -1, receipt));
    POSTRIDER_CHECK(remove_from_stats(*delivery));
  } else {
    POSTRIDER_TRY(PriorityCounts * waiting_change, waiting_change_of(*delivery, receipt));
    --(*waiting_change)[delivery->priority];
    POSTRIDER_TRY(const std::optional<OperationId> operation, operation_of(delivery->sequence));
    if (operation) {
      receipt.outcomes[*operation].add(DeliveryState::cancelled, order.now);
    }
  }
  delivery = cancelled(*std::move(delivery));
  POSTRIDER_CHECK(cancel_.run(delivery->sequence, order.now, delivery->in_operation));
  return Result<Delivery>{*std::move(delivery)};
}

}  // namespace postrider::sqlite
