#include "adapters/sqlite/ledger/circuit_store.h"

#include <algorithm>

namespace postrider::sqlite {
namespace {

// These numbers are stored on disk and must never change.
static_assert(static_cast<int>(OpenReason::failures) == 0 &&
              static_cast<int>(OpenReason::forced) == 1);

constexpr std::string_view save_sql = R"sql(
  INSERT OR REPLACE INTO circuit (webhook_id, state, openings_in_row, changed_at, open_until,
                                  forced_until, forced_open, failing_since, counting_since,
                                  opened_at, times_opened)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
   WHERE EXISTS (SELECT 1 FROM webhook WHERE id = ?1)
)sql";

// A period that was forced once stays forced.
constexpr std::string_view save_period_sql = R"sql(
  INSERT INTO circuit_period (webhook_id, opened_at, ended_at, reason) VALUES (?1, ?2, ?3, ?4)
  ON CONFLICT (webhook_id, opened_at)
  DO UPDATE SET ended_at = excluded.ended_at, reason = max(reason, excluded.reason)
)sql";

// Newest first.
constexpr std::string_view recent_calls_sql = R"sql(
  WITH RECURSIVE chain (delivery, number) AS (
    SELECT last_attempt_delivery, last_attempt_number FROM lane WHERE webhook_id = ?1
    UNION ALL
    SELECT a.previous_delivery, a.previous_number
      FROM chain c CROSS JOIN attempt a ON a.delivery = c.delivery AND a.number = c.number
  )
  SELECT a.executed_at, a.duration_us, a.failure_category
    FROM chain c CROSS JOIN attempt a ON a.delivery = c.delivery AND a.number = c.number
   LIMIT ?2
)sql";

Result<std::vector<PastCall>> read_calls(Statement& statement, WebhookId id,
                                         const CallsToRestore& which) {
  std::vector<PastCall> calls;
  Query query = statement.query(id, which.limit);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    const WallTime began = found ? query.time(0) : WallTime{};
    const WallTime ended =
        found ? later(began, std::chrono::duration_cast<Millis>(Micros{query.integer(1)})) : began;
    if (!found || (ended < which.since && calls.size() >= which.count_min)) {
      std::ranges::reverse(calls);
      return calls;
    }
    const auto failure = query.as_or_null<FailureCategory>(2);
    calls.push_back({.began = began,
                     .ended = ended,
                     .failed = failure.has_value(),
                     .timed_out = failure == FailureCategory::timeout});
  }
}

}  // namespace

Result<CircuitStore> CircuitStore::open(Writer::Session& session) {
  CircuitStore store{session};
  POSTRIDER_CHECK(session.database.prepare_all({
      {&store.save_, save_sql},
      {&store.save_period_, save_period_sql},
      {&store.recent_calls_, recent_calls_sql},
  }));
  return store;
}

Result<void> CircuitStore::save(const SaveCircuit& circuit) {
  const CircuitRecord& record = circuit.record;
  POSTRIDER_CHECK(save_.run(circuit.webhook_id, record.state, record.openings_in_row,
                            record.changed_at, record.open_until, record.forced_until,
                            record.forced_open, record.failing_since, record.counting_since,
                            record.opened_at, record.times_opened));
  if (session_->database.changes() == 0) {
    return {};
  }
  for (const OpenPeriod& period : circuit.periods) {
    POSTRIDER_CHECK(
        save_period_.run(circuit.webhook_id, period.opened_at, period.ended_at, period.reason));
  }
  return {};
}

Result<std::vector<PastCall>> CircuitStore::recent_calls(WebhookId id,
                                                         const CallsToRestore& which) {
  return read_calls(recent_calls_, id, which);
}

Result<std::vector<PastCall>> read_recent_calls(Database& database, WebhookId id,
                                                const CallsToRestore& which) {
  POSTRIDER_TRY(Statement statement, database.prepare(recent_calls_sql));
  return read_calls(statement, id, which);
}

}  // namespace postrider::sqlite
