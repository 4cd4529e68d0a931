#include "adapters/postgres/store/ledger/circuit_store.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

namespace postrider::postgres {
namespace {

// These numbers are stored in the database and must never change.
static_assert(static_cast<int>(OpenReason::failures) == 0 &&
              static_cast<int>(OpenReason::forced) == 1);

// Locks those of the webhooks $1 that exist. The removal of a webhook waits for this transaction,
// and then removes the circuit.
#define POSTRIDER_KNOWN_WEBHOOKS                                      \
  "WITH known AS (SELECT id FROM webhook WHERE id = ANY ($1::uuid[])" \
  " ORDER BY id FOR KEY SHARE) "

constexpr std::string_view save_sql = POSTRIDER_KNOWN_WEBHOOKS R"sql(
  INSERT INTO circuit AS c (webhook_id, state, openings_in_row, changed_at, open_until,
                            forced_until, forced_open, failing_since, counting_since, opened_at,
                            times_opened)
  SELECT s.* FROM (SELECT unnest($1::uuid[]) AS webhook_id, unnest($2::bigint[]),
                          unnest($3::bigint[]), unnest($4::bigint[]), unnest($5::bigint[]),
                          unnest($6::bigint[]), unnest($7::bigint[]), unnest($8::bigint[]),
                          unnest($9::bigint[]), unnest($10::bigint[]), unnest($11::bigint[])) s
   WHERE s.webhook_id IN (SELECT id FROM known)
  ON CONFLICT (webhook_id)
  DO UPDATE SET state = excluded.state, openings_in_row = excluded.openings_in_row,
                changed_at = excluded.changed_at, open_until = excluded.open_until,
                forced_until = excluded.forced_until, forced_open = excluded.forced_open,
                failing_since = excluded.failing_since,
                counting_since = excluded.counting_since, opened_at = excluded.opened_at,
                times_opened = excluded.times_opened
)sql";

// A period that was forced once stays forced.
constexpr std::string_view save_periods_sql = POSTRIDER_KNOWN_WEBHOOKS R"sql(
  INSERT INTO circuit_period AS p (webhook_id, opened_at, ended_at, reason)
  SELECT s.* FROM (SELECT unnest($1::uuid[]) AS webhook_id, unnest($2::bigint[]),
                          unnest($3::bigint[]), unnest($4::bigint[])) s
   WHERE s.webhook_id IN (SELECT id FROM known)
  ON CONFLICT (webhook_id, opened_at)
  DO UPDATE SET ended_at = excluded.ended_at, reason = greatest(p.reason, excluded.reason)
)sql";

// Newest first.
constexpr std::string_view recent_calls_sql = R"sql(
  SELECT executed_at, duration_us, failure_category FROM attempt
   WHERE webhook_id = $1 ORDER BY recorded DESC LIMIT $2
)sql";

class CircuitColumns {
 public:
  void add(WebhookId id, const CircuitRecord& record) {
    ids_.add(id);
    states_.add(record.state);
    openings_.add(record.openings_in_row);
    changed_.add(record.changed_at);
    open_until_.add(record.open_until);
    forced_until_.add(record.forced_until);
    forced_open_.add(record.forced_open);
    failing_since_.add(record.failing_since);
    counting_since_.add(record.counting_since);
    opened_.add(record.opened_at);
    times_opened_.add(record.times_opened);
  }

  void queue(Session& session) && {
    session.queue(
        save_sql,
        Parameters::of(std::move(ids_), std::move(states_), std::move(openings_),
                       std::move(changed_), std::move(open_until_), std::move(forced_until_),
                       std::move(forced_open_), std::move(failing_since_),
                       std::move(counting_since_), std::move(opened_), std::move(times_opened_)));
  }

 private:
  Array ids_{ElementType::uuid};
  Array states_{ElementType::int8};
  Array openings_{ElementType::int8};
  Array changed_{ElementType::int8};
  Array open_until_{ElementType::int8};
  Array forced_until_{ElementType::int8};
  Array forced_open_{ElementType::int8};
  Array failing_since_{ElementType::int8};
  Array counting_since_{ElementType::int8};
  Array opened_{ElementType::int8};
  Array times_opened_{ElementType::int8};
};

using Periods = std::map<std::pair<WebhookId, WallTime>, OpenPeriod>;

void queue_periods(Session& session, const Periods& periods) {
  if (periods.empty()) {
    return;
  }
  Array ids{ElementType::uuid};
  Array opened{ElementType::int8};
  Array ended{ElementType::int8};
  Array reasons{ElementType::int8};
  for (const auto& [key, period] : periods) {
    ids.add(key.first);
    opened.add(period.opened_at);
    ended.add(period.ended_at);
    reasons.add(period.reason);
  }
  session.queue(save_periods_sql, Parameters::of(std::move(ids), std::move(opened),
                                                 std::move(ended), std::move(reasons)));
}

}  // namespace

void queue_circuits(Session& session, const std::vector<SaveCircuit>& circuits,
                    const ShardFence& fence) {
  std::map<WebhookId, const CircuitRecord*> latest;
  Periods periods;
  for (const SaveCircuit& circuit : circuits) {
    if (!fence.allows(shard_of(circuit.webhook_id))) {
      continue;
    }
    latest[circuit.webhook_id] = &circuit.record;
    for (const OpenPeriod& period : circuit.periods) {
      OpenPeriod& merged =
          periods.try_emplace({circuit.webhook_id, period.opened_at}, period).first->second;
      merged.ended_at = period.ended_at;
      merged.reason = std::max(merged.reason, period.reason);
    }
  }
  if (latest.empty()) {
    return;
  }
  CircuitColumns columns;
  for (const auto& [id, record] : latest) {
    columns.add(id, *record);
  }
  std::move(columns).queue(session);
  queue_periods(session, periods);
}

Result<std::vector<PastCall>> read_recent_calls(Session& session, WebhookId id,
                                                const CallsToRestore& which) {
  POSTRIDER_TRY(const Rows rows, session.run(recent_calls_sql, Parameters::of(id, which.limit)));
  std::vector<PastCall> calls;
  for (int row = 0; row < rows.count(); ++row) {
    const WallTime began = rows.time(row, 0);
    const WallTime ended =
        later(began, std::chrono::duration_cast<Millis>(Micros{rows.integer(row, 1)}));
    if (ended < which.since && calls.size() >= which.count_min) {
      break;
    }
    const auto failure = rows.as_or_null<FailureCategory>(row, 2);
    calls.push_back({.began = began,
                     .ended = ended,
                     .failed = failure.has_value(),
                     .timed_out = failure == FailureCategory::timeout});
  }
  std::ranges::reverse(calls);
  return calls;
}

}  // namespace postrider::postgres
