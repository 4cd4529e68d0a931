#include "adapters/sqlite/history/health.h"

#include <cstdint>
#include <string_view>

#include "ports/health_tally.h"

#include "adapters/sql/state_sql.h"

namespace postrider::sqlite {
namespace {

constexpr std::string_view lane_sql =
    "SELECT lane, last_success_at, last_failure_at FROM lane WHERE webhook_id = ?1";

// Follows the chain of the lane's attempts, newest first.
constexpr std::string_view attempts_sql = R"sql(
  WITH RECURSIVE chain (delivery, number) AS (
    SELECT last_attempt_delivery, last_attempt_number FROM lane WHERE lane = ?1
    UNION ALL
    SELECT a.previous_delivery, a.previous_number
      FROM chain c CROSS JOIN attempt a ON a.delivery = c.delivery AND a.number = c.number
  )
  SELECT a.failure_category, a.duration_us
    FROM chain c CROSS JOIN attempt a ON a.delivery = c.delivery AND a.number = c.number
   LIMIT ?2
)sql";

constexpr auto waiting_sql = sql::with_states(R"sql(
  SELECT state, count(*) FROM delivery INDEXED BY delivery_due
   WHERE lane = ?1 AND state <= {last_waiting} GROUP BY state
)sql");

constexpr auto dead_sql = sql::with_states(R"sql(
  SELECT state, count(*) FROM delivery INDEXED BY delivery_dead_lane
   WHERE lane = ?1 AND state = {dead_letter} GROUP BY state
)sql");

Result<HealthTally> tally_attempts(Database& database, std::int64_t lane) {
  POSTRIDER_TRY(Statement statement, database.prepare(attempts_sql));
  HealthTally tally;
  Query query = statement.query(lane, health_attempts_max);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return tally;
    }
    tally.add(query.as_or_null<FailureCategory>(0), Micros{query.integer(1)});
  }
}

Result<void> count_deliveries(Database& database, std::string_view sql, std::int64_t lane,
                              WebhookHealth& health) {
  POSTRIDER_TRY(Statement statement, database.prepare(sql));
  Query query = statement.query(lane);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return {};
    }
    health.deliveries[query.as<DeliveryState>(0)] = query.as<std::uint64_t>(1);
  }
}

}  // namespace

Result<WebhookHealth> read_health(Database& database, WebhookId id) {
  POSTRIDER_TRY(Statement statement, database.prepare(lane_sql));
  Query query = statement.query(id);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return WebhookHealth{};
  }
  const std::int64_t lane = query.integer(0);
  POSTRIDER_TRY(HealthTally tally, tally_attempts(database, lane));
  WebhookHealth health = tally.finish();
  health.last_success_at = query.time_or_null(1);
  health.last_failure_at = query.time_or_null(2);
  POSTRIDER_CHECK(count_deliveries(database, waiting_sql, lane, health));
  POSTRIDER_CHECK(count_deliveries(database, dead_sql, lane, health));
  return health;
}

Result<std::map<WebhookId, LatestResults>> read_latest_results(Database& database,
                                                               const std::vector<WebhookId>& ids) {
  POSTRIDER_TRY(Statement statement, database.prepare(lane_sql));
  std::map<WebhookId, LatestResults> results;
  for (const WebhookId& id : ids) {
    Query query = statement.query(id);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      continue;
    }
    const LatestResults latest{.last_success_at = query.time_or_null(1),
                               .last_failure_at = query.time_or_null(2)};
    if (latest != LatestResults{}) {
      results.emplace(id, latest);
    }
  }
  return results;
}

}  // namespace postrider::sqlite
