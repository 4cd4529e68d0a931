#include "adapters/postgres/store/ledger/delivery_writer.h"

#include <string>
#include <utility>

#include "core/stored/attempt_detail.h"

#include "adapters/postgres/store/ledger/new_deliveries.h"
#include "adapters/postgres/store/ledger/order_index.h"

namespace postrider::postgres {
namespace {

// The new values of changed deliveries.
#define POSTRIDER_CHANGED                                                                \
  "(SELECT unnest($1::uuid[]) AS id, unnest($2::smallint[]) AS state,"                   \
  " unnest($3::smallint[]) AS priority, unnest($4::smallint[]) AS trigger,"              \
  " unnest($5::bigint[]) AS due, unnest($6::integer[]) AS attempt_count,"                \
  " unnest($7::integer[]) AS budget_used, unnest($8::integer[]) AS revivals,"            \
  " unnest($9::bigint[]) AS updated_at, unnest($10::smallint[]) AS last_failure,"        \
  " unnest($11::smallint[]) AS last_http_status, unnest($12::uuid[]) AS operation,"      \
  " unnest($13::bigint[]) AS completed_at,"                                              \
  " unnest($14::smallint[]) AS dead_classification, unnest($15::text[]) AS dead_reason)" \
  " AS c"

#define POSTRIDER_SET_CHANGED                                                             \
  "state = c.state, priority = c.priority, trigger = c.trigger, due = c.due,"             \
  " attempt_count = c.attempt_count, budget_used = c.budget_used, revivals = c.revivals," \
  " updated_at = c.updated_at, last_failure = c.last_failure,"                            \
  " last_http_status = c.last_http_status, operation = c.operation"

// The columns that a row keeps when it moves, and those that change.
#define POSTRIDER_MOVED_COLUMNS                                                          \
  "sequence, id, event_id, webhook_id, tenant_id, type, created_at, late, trace, state," \
  " priority, trigger, due, attempt_count, budget_used, revivals, updated_at,"           \
  " last_failure, last_http_status, operation"
#define POSTRIDER_MOVED_VALUES                                                     \
  "d.sequence, d.id, d.event_id, d.webhook_id, d.tenant_id, d.type, d.created_at," \
  " d.late, d.trace, c.state, c.priority, c.trigger, c.due, c.attempt_count,"      \
  " c.budget_used, c.revivals, c.updated_at, c.last_failure, c.last_http_status,"  \
  " c.operation"

constexpr std::string_view keep_waiting_sql =
    "UPDATE waiting d SET " POSTRIDER_SET_CHANGED " FROM " POSTRIDER_CHANGED " WHERE d.id = c.id";

constexpr std::string_view keep_final_sql =
    "UPDATE delivery d SET " POSTRIDER_SET_CHANGED
    ", completed_at = c.completed_at, dead_classification = c.dead_classification,"
    " dead_reason = c.dead_reason FROM " POSTRIDER_CHANGED " WHERE d.id = c.id";

constexpr std::string_view take_finished_sql =
    "DELETE FROM waiting d USING " POSTRIDER_CHANGED
    " WHERE d.id = c.id RETURNING " POSTRIDER_MOVED_VALUES
    ", c.completed_at, c.dead_classification, c.dead_reason";

constexpr std::string_view put_finished_sql =
    "INSERT INTO delivery (" POSTRIDER_MOVED_COLUMNS
    ", completed_at, dead_classification, dead_reason) SELECT * FROM finished";

constexpr std::string_view take_revived_sql =
    "DELETE FROM delivery d USING " POSTRIDER_CHANGED
    " WHERE d.id = c.id RETURNING " POSTRIDER_MOVED_VALUES;

constexpr std::string_view put_revived_sql =
    "INSERT INTO waiting (" POSTRIDER_MOVED_COLUMNS
    ", shard, ordered) SELECT m.*, s.shard,"
    " " POSTRIDER_IS_ORDERED("m.webhook_id")
    " FROM revived m JOIN (SELECT unnest($1::uuid[]) AS id, unnest($2::smallint[]) AS shard) s"
    " ON s.id = m.id";

constexpr std::string_view insert_attempts_sql = R"sql(
  INSERT INTO attempt (delivery_id, number, id, webhook_id, tenant_id, recorded, executed_at,
                       duration_us, trigger, scheduled_at, next_retry_at, failure_category,
                       http_status, detail)
  SELECT unnest($1::uuid[]), unnest($2::integer[]), unnest($3::uuid[]), unnest($4::uuid[]),
         unnest($5::text[]), unnest($6::bigint[]), unnest($7::bigint[]), unnest($8::bigint[]),
         unnest($9::smallint[]), unnest($10::bigint[]), unnest($11::bigint[]),
         unnest($12::smallint[]), unnest($13::smallint[]), unnest($14::bytea[])
)sql";

// In the order of their keys, so that transactions do not wait for each other in a circle.
constexpr std::string_view unsettle_sql = R"sql(
  WITH named AS (SELECT source, row_id FROM source_row WHERE event_id = ANY ($1::uuid[])
                  ORDER BY source, row_id FOR UPDATE)
  UPDATE source_row r SET settled = 0, revision = r.revision + 1
    FROM named n WHERE r.source = n.source AND r.row_id = n.row_id
)sql";

class ChangedColumns {
 public:
  void add(const NamedDelivery& changed) {
    const Delivery& delivery = changed.delivery;
    ids_.add(delivery.id);
    states_.add(delivery.state);
    priorities_.add(delivery.priority);
    triggers_.add(delivery.trigger);
    dues_.add(delivery.due);
    attempt_counts_.add(delivery.attempt_count);
    budgets_used_.add(delivery.budget_used);
    revivals_.add(delivery.revivals);
    updated_.add(changed.updated_at);
    last_failures_.add(changed.last_failure);
    last_http_statuses_.add(changed.last_http_status);
    operations_.add(changed.operation);
    completed_.add(changed.completed_at);
    if (changed.dead) {
      dead_classifications_.add(changed.dead->classification);
      dead_reasons_.add(changed.dead->reason);
    } else {
      dead_classifications_.add_null();
      dead_reasons_.add_null();
    }
    shards_.add(shard_of(delivery.webhook_id));
  }

  [[nodiscard]] bool empty() const { return ids_.size() == 0; }

  /// The parameters of put_revived_sql.
  [[nodiscard]] Parameters shards() const { return Parameters::of(ids_, shards_); }

  /// The parameters of POSTRIDER_CHANGED.
  [[nodiscard]] Parameters values() && {
    return Parameters::of(std::move(ids_), std::move(states_), std::move(priorities_),
                          std::move(triggers_), std::move(dues_), std::move(attempt_counts_),
                          std::move(budgets_used_), std::move(revivals_), std::move(updated_),
                          std::move(last_failures_), std::move(last_http_statuses_),
                          std::move(operations_), std::move(completed_),
                          std::move(dead_classifications_), std::move(dead_reasons_));
  }

 private:
  Array ids_{ElementType::uuid};
  Array states_{ElementType::int2};
  Array priorities_{ElementType::int2};
  Array triggers_{ElementType::int2};
  Array dues_{ElementType::int8};
  Array attempt_counts_{ElementType::int4};
  Array budgets_used_{ElementType::int4};
  Array revivals_{ElementType::int4};
  Array updated_{ElementType::int8};
  Array last_failures_{ElementType::int2};
  Array last_http_statuses_{ElementType::int2};
  Array operations_{ElementType::uuid};
  Array completed_{ElementType::int8};
  Array dead_classifications_{ElementType::int2};
  Array dead_reasons_{ElementType::text};
  Array shards_{ElementType::int2};
};

}  // namespace

void add_changed(JoinedStatement& joined, const std::vector<NamedDelivery>& deliveries) {
  ChangedColumns kept_waiting;
  ChangedColumns finished;
  ChangedColumns revived;
  ChangedColumns kept_final;
  for (const NamedDelivery& named : deliveries) {
    if (!named.changed) {
      continue;
    }
    const bool waits = is_waiting(named.delivery.state);
    if (named.is_in_waiting) {
      (waits ? kept_waiting : finished).add(named);
    } else {
      (waits ? revived : kept_final).add(named);
    }
  }
  if (!kept_waiting.empty()) {
    joined.add("kept_waiting", keep_waiting_sql, std::move(kept_waiting).values());
  }
  if (!finished.empty()) {
    joined.add("finished", take_finished_sql, std::move(finished).values());
    joined.add("put_finished", put_finished_sql, {});
  }
  if (!revived.empty()) {
    Parameters shards = revived.shards();
    joined.add("revived", take_revived_sql, std::move(revived).values());
    joined.add("put_revived", put_revived_sql, std::move(shards));
  }
  if (!kept_final.empty()) {
    joined.add("kept_final", keep_final_sql, std::move(kept_final).values());
  }
}

void add_attempts(JoinedStatement& joined, const DeliveryChanges& changes, RequestShapes& shapes,
                  Sequences& sequences) {
  if (changes.attempts().empty()) {
    return;
  }
  Array delivery_ids{ElementType::uuid};
  Array numbers{ElementType::int4};
  Array ids{ElementType::uuid};
  Array webhook_ids{ElementType::uuid};
  Array tenant_ids{ElementType::text};
  Array recorded{ElementType::int8};
  Array executed{ElementType::int8};
  Array durations{ElementType::int8};
  Array triggers{ElementType::int2};
  Array scheduled{ElementType::int8};
  Array next_retries{ElementType::int8};
  Array failures{ElementType::int2};
  Array http_statuses{ElementType::int2};
  Array details{ElementType::bytea};
  std::string detail;
  for (const RecordedAttempt& each : changes.attempts()) {
    const Settlement& settlement = *each.settlement;
    const Attempt& attempt = *settlement.attempt;
    const std::uint32_t shape = shapes.number_of(settlement);
    detail.clear();
    stored::pack_detail(attempt.outcome, shape, detail);
    delivery_ids.add(settlement.delivery.id);
    numbers.add(attempt.number);
    ids.add(attempt.id);
    webhook_ids.add(settlement.delivery.webhook_id);
    tenant_ids.add(changes.deliveries()[each.delivery].tenant_id);
    recorded.add(sequences.next());
    executed.add(attempt.outcome.executed_at);
    durations.add(attempt.outcome.duration);
    triggers.add(attempt.trigger);
    scheduled.add(attempt.scheduled_at);
    next_retries.add(attempt.next_retry_at);
    failures.add(attempt.failure_category);
    http_statuses.add(attempt.outcome.http_status);
    details.add(Blob{detail});
  }
  joined.add("new_attempts", insert_attempts_sql,
             Parameters::of(std::move(delivery_ids), std::move(numbers), std::move(ids),
                            std::move(webhook_ids), std::move(tenant_ids), std::move(recorded),
                            std::move(executed), std::move(durations), std::move(triggers),
                            std::move(scheduled), std::move(next_retries), std::move(failures),
                            std::move(http_statuses), std::move(details)));
}

void queue_unsettling(Session& session, const std::set<EventId>& events) {
  if (events.empty()) {
    return;
  }
  Array ids{ElementType::uuid};
  for (const EventId& id : events) {
    ids.add(id);
  }
  session.queue(unsettle_sql, Parameters::of(std::move(ids)));
}

}  // namespace postrider::postgres
