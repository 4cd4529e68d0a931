#include "adapters/postgres/store/history/health.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "ports/health_tally.h"

#include "adapters/postgres/store/history/plan_settings.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view attempts_sql =
    "SELECT failure_category, duration_us FROM attempt WHERE webhook_id = $1"
    " ORDER BY recorded DESC LIMIT 1000";
static_assert(health_attempts_max == 1000);  // The plan depends on the limit.

// An attempt counts in the span in which it ended, and may have begun in the one before.
constexpr std::string_view latest_results_sql = R"sql(
  SELECT w.id,
         (SELECT max(last_success_at) FROM webhook_stats
           WHERE webhook_id = w.id AND succeeded
             AND span >= (SELECT span - 1 FROM webhook_stats
                           WHERE webhook_id = w.id AND succeeded
                           ORDER BY span DESC LIMIT 1)),
         (SELECT max(last_failure_at) FROM webhook_stats
           WHERE webhook_id = w.id AND failed
             AND span >= (SELECT span - 1 FROM webhook_stats
                           WHERE webhook_id = w.id AND failed
                           ORDER BY span DESC LIMIT 1))
    FROM unnest($1::uuid[]) AS w(id)
)sql";

constexpr std::string_view deliveries_sql = R"sql(
  SELECT state, count(*) FROM waiting WHERE webhook_id = $1 GROUP BY state
  UNION ALL
  SELECT 3::smallint, count(*) FROM delivery WHERE webhook_id = $1 AND state = 3
)sql";
static_assert(static_cast<int>(DeliveryState::dead_letter) == 3);

Parameters ids_of(const std::vector<WebhookId>& webhooks) {
  Array ids{ElementType::uuid};
  for (const WebhookId& id : webhooks) {
    ids.add(id);
  }
  return Parameters::of(std::move(ids));
}

LatestResults read_latest(const Rows& rows, int row) {
  return {.last_success_at = rows.time_or_null(row, 1),
          .last_failure_at = rows.time_or_null(row, 2)};
}

}  // namespace

Result<WebhookHealth> read_health(Session& session, WebhookId id) {
  session.queue(plan_by_index);
  const std::size_t attempts = session.queue(attempts_sql, Parameters::of(id));
  const std::size_t times = session.queue(latest_results_sql, ids_of({id}));
  const std::size_t deliveries = session.queue(deliveries_sql, Parameters::of(id));
  POSTRIDER_TRY(const std::vector<Rows> answers, session.exchange());
  HealthTally tally;
  for (int row = 0; row < answers[attempts].count(); ++row) {
    tally.add(answers[attempts].as_or_null<FailureCategory>(row, 0),
              Micros{answers[attempts].integer(row, 1)});
  }
  WebhookHealth health = tally.finish();
  const LatestResults latest = read_latest(answers[times], 0);
  health.last_success_at = latest.last_success_at;
  health.last_failure_at = latest.last_failure_at;
  for (int row = 0; row < answers[deliveries].count(); ++row) {
    const auto count = answers[deliveries].as<std::uint64_t>(row, 1);
    if (count > 0) {
      health.deliveries[answers[deliveries].as<DeliveryState>(row, 0)] = count;
    }
  }
  return health;
}

Result<std::map<WebhookId, LatestResults>> read_latest_results(Session& session,
                                                               const std::vector<WebhookId>& ids) {
  session.queue(plan_by_index);
  POSTRIDER_TRY(const Rows rows, session.run(latest_results_sql, ids_of(ids)));
  std::map<WebhookId, LatestResults> results;
  for (int row = 0; row < rows.count(); ++row) {
    if (const LatestResults latest = read_latest(rows, row); latest != LatestResults{}) {
      results.emplace(rows.id<WebhookId>(row, 0), latest);
    }
  }
  return results;
}

std::string_view latest_results_query() { return latest_results_sql; }

}  // namespace postrider::postgres
