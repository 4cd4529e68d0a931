#include "adapters/sqlite/ledger/late_delivery_writer.h"

#include "core/stored/trace_bytes.h"

#include "adapters/sqlite/ledger/source_row_sql.h"

namespace postrider::sqlite {
namespace {

constexpr std::string_view find_event_sql =
    "SELECT sequence, tenant, delivery_count FROM event WHERE id = ?1";

constexpr std::string_view find_delivery_sql = R"sql(
  SELECT 1 FROM delivery NOT INDEXED
   WHERE sequence >= ?1 AND sequence < ?1 + ?2 AND event = ?1 AND lane = ?3
   UNION ALL
  SELECT 1 FROM delivery INDEXED BY delivery_late WHERE event = ?1 AND late = 1 AND lane = ?3
   LIMIT 1
)sql";

constexpr std::string_view insert_sql = R"sql(
  INSERT INTO delivery (sequence, id, event, lane, previous, ordered, tenant, type, priority, state,
                        trigger, due, attempt_count, budget_used, created_at, updated_at, late,
                        operation, trace)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?15, 1, ?16, ?17)
)sql";

}  // namespace

Result<LateDeliveryWriter> LateDeliveryWriter::open(Writer::Session& session) {
  LateDeliveryWriter writer{session};
  POSTRIDER_CHECK(session.database.prepare_all({
      {&writer.find_event_, find_event_sql},
      {&writer.find_delivery_, find_delivery_sql},
      {&writer.insert_, insert_sql},
      {&writer.unsettle_rows_, unsettle_rows_sql},
  }));
  return writer;
}

Result<std::optional<Delivery>> LateDeliveryWriter::add(const AddLateDelivery& order,
                                                        FanoutWriter& fanouts,
                                                        BatchReceipt& receipt) {
  POSTRIDER_TRY(const std::optional<StoredEvent> event, find_event(order.delivery.event_id));
  if (!event) {
    return std::nullopt;
  }
  POSTRIDER_TRY(LaneEntry * lane,
                session_->lanes.find_or_add(order.delivery.webhook_id, event->tenant));
  POSTRIDER_TRY(const bool exists, has_delivery(*event, lane->lane));
  POSTRIDER_TRY(const bool will_exist,
                fanouts.will_reach(event->sequence, order.delivery.webhook_id));
  if (exists || will_exist) {
    return std::nullopt;
  }
  POSTRIDER_TRY(const std::int64_t type, session_->types.number_of(order.delivery.event_type));
  Delivery delivery = order.delivery;
  delivery.sequence = session_->next_sequence++;
  const std::string trace = stored::pack_mark(delivery.trace);
  POSTRIDER_CHECK(insert_.run(delivery.sequence, delivery.id, event->sequence, lane->lane,
                              lane->last_delivery, lane->ordered, event->tenant, type,
                              delivery.priority, delivery.state, delivery.trigger, delivery.due,
                              delivery.attempt_count, delivery.budget_used, order.now,
                              order.operation, blob_or_null(trace)));
  POSTRIDER_CHECK(unsettle_rows_.run(delivery.sequence));
  lane->last_delivery = delivery.sequence;
  POSTRIDER_TRY(DeliveryTally * of_lane, session_->stats.of_lane(*lane, event->tenant, order.now));
  of_lane->deliveries += 1;
  POSTRIDER_TRY(DeliveryTally * of_tenant, session_->stats.of_tenant(event->tenant, order.now));
  of_tenant->deliveries += 1;
  POSTRIDER_TRY(const std::string* tenant_id, session_->tenants.name_of(event->tenant));
  ++receipt.waiting_change[*tenant_id][delivery.priority];
  session_->lanes.mark_changed(*lane);
  return delivery;
}

Result<std::optional<LateDeliveryWriter::StoredEvent>> LateDeliveryWriter::find_event(EventId id) {
  Query query = find_event_.query(id);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return std::nullopt;
  }
  return StoredEvent{query.integer(0), query.integer(1), query.integer(2)};
}

Result<bool> LateDeliveryWriter::has_delivery(const StoredEvent& event, std::int64_t lane) {
  Query query = find_delivery_.query(event.sequence, event.delivery_count, lane);
  return query.next();
}

}  // namespace postrider::sqlite
