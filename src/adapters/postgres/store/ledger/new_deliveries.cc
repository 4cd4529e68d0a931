#include "adapters/postgres/store/ledger/new_deliveries.h"

#include <string>
#include <utility>

#include "core/stored/trace_bytes.h"

#include "adapters/postgres/store/ledger/order_index.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view insert_sql = R"sql(
  INSERT INTO waiting (sequence, id, event_id, webhook_id, tenant_id, type, priority, state,
                       trigger, due, attempt_count, budget_used, created_at, updated_at, late,
                       operation, trace, shard, ordered)
  SELECT n.sequence, n.id, n.event_id, n.webhook_id, n.tenant_id, n.type, n.priority, n.state,
         n.trigger, n.due, n.attempt_count, n.budget_used, n.created_at, n.created_at, n.late,
         n.operation, n.trace, n.shard,
         )sql" POSTRIDER_IS_ORDERED("n.webhook_id") R"sql(
    FROM (SELECT unnest($1::bigint[]) AS sequence, unnest($2::uuid[]) AS id,
                 unnest($3::uuid[]) AS event_id, unnest($4::uuid[]) AS webhook_id,
                 unnest($5::text[]) AS tenant_id, unnest($6::text[]) AS type,
                 unnest($7::smallint[]) AS priority, unnest($8::smallint[]) AS state,
                 unnest($9::smallint[]) AS trigger, unnest($10::bigint[]) AS due,
                 unnest($11::integer[]) AS attempt_count, unnest($12::integer[]) AS budget_used,
                 unnest($13::bigint[]) AS created_at, unnest($14::boolean[]) AS late,
                 unnest($15::uuid[]) AS operation, unnest($16::bytea[]) AS trace,
                 unnest($17::smallint[]) AS shard) n
)sql";

}  // namespace

void NewDeliveries::reserve(std::size_t count) {
  for (Array* ids : {&ids_, &event_ids_, &webhook_ids_}) {
    ids->reserve(count, sizeof(Uuid));
  }
  for (Array* numbers : {&sequences_, &dues_, &created_}) {
    numbers->reserve(count, sizeof(std::int64_t));
  }
}

void NewDeliveries::add(const Delivery& delivery, const Origin& origin) {
  sequences_.add(delivery.sequence);
  ids_.add(delivery.id);
  event_ids_.add(delivery.event_id);
  webhook_ids_.add(delivery.webhook_id);
  tenant_ids_.add(origin.tenant_id);
  types_.add(delivery.event_type);
  priorities_.add(delivery.priority);
  states_.add(delivery.state);
  triggers_.add(delivery.trigger);
  dues_.add(delivery.due);
  attempt_counts_.add(delivery.attempt_count);
  budgets_used_.add(delivery.budget_used);
  created_.add(origin.now);
  lates_.add(origin.late);
  operations_.add(origin.operation);
  if (delivery.trace) {
    const std::string packed = stored::pack_mark(delivery.trace);
    traces_.add(Blob{packed});
  } else {
    traces_.add_null();
  }
  shards_.add(shard_of(delivery.webhook_id));
}

void NewDeliveries::add_to(JoinedStatement& joined) && {
  if (ids_.size() == 0) {
    return;
  }
  joined.add("new_deliveries", insert_sql,
             Parameters::of(std::move(sequences_), std::move(ids_), std::move(event_ids_),
                            std::move(webhook_ids_), std::move(tenant_ids_), std::move(types_),
                            std::move(priorities_), std::move(states_), std::move(triggers_),
                            std::move(dues_), std::move(attempt_counts_), std::move(budgets_used_),
                            std::move(created_), std::move(lates_), std::move(operations_),
                            std::move(traces_), std::move(shards_)));
}

}  // namespace postrider::postgres
