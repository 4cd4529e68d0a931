#include "adapters/postgres/store/history/history.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/assert.h"

#include "adapters/postgres/store/history/attempt_lists.h"
#include "adapters/postgres/store/history/built_query.h"
#include "adapters/postgres/store/history/delivery_lists.h"
#include "adapters/postgres/store/history/event_lists.h"
#include "adapters/postgres/store/history/health.h"
#include "adapters/postgres/store/history/record_rows.h"
#include "adapters/postgres/store/history/request_reader.h"
#include "adapters/postgres/store/ledger/circuit_store.h"
#include "adapters/postgres/store/ledger/lanes.h"

namespace postrider::postgres {
namespace {

std::string_view find_delivery_sql() {
  static const std::string sql = fmt::format(
      "SELECT p.*, {} FROM (SELECT {} FROM waiting d WHERE d.id = $1"
      " UNION ALL SELECT {} FROM delivery d WHERE d.id = $1) p"
      " LEFT JOIN attempt z ON z.delivery_id = p.id AND z.number = p.attempt_count",
      last_attempt_columns, waiting_columns, final_columns);
  return sql;
}

std::string_view find_event_sql() {
  static const std::string sql =
      fmt::format("SELECT {} FROM event e WHERE e.id = $1", POSTRIDER_EVENT_COLUMNS);
  return sql;
}

std::string_view attempts_sql() {
  static const std::string sql = fmt::format(
      "SELECT {} FROM attempt a WHERE a.delivery_id = $1 ORDER BY a.number", attempt_columns);
  return sql;
}

constexpr std::string_view fanout_sql =
    "SELECT f.remaining FROM fanout f JOIN event e ON f.event = e.sequence WHERE e.id = $1";

constexpr std::string_view removed_tenant_sql =
    "SELECT tenant_id FROM removed_webhook WHERE webhook_id = $1";

// Newest first.
constexpr std::string_view open_periods_sql = R"sql(
  SELECT p.opened_at, p.ended_at, p.reason
    FROM (SELECT webhook_id, created_at, NULL::bigint AS completed_at FROM waiting WHERE id = $1
           UNION ALL
          SELECT webhook_id, created_at, completed_at FROM delivery WHERE id = $1) d
    JOIN circuit_period p ON p.webhook_id = d.webhook_id
     AND (d.completed_at IS NULL OR p.opened_at < d.completed_at)
     AND (p.ended_at IS NULL OR p.ended_at > d.created_at)
   ORDER BY p.opened_at DESC LIMIT $2
)sql";

constexpr std::string_view periods_sql = R"sql(
  SELECT opened_at, ended_at, reason FROM circuit_period
   WHERE webhook_id = $1 AND opened_at < $2 ORDER BY opened_at DESC LIMIT $3 OFFSET $4
)sql";

constexpr std::string_view circuits_sql =
    "SELECT webhook_id, state, openings_in_row, changed_at, open_until, forced_until, forced_open,"
    " failing_since, counting_since, opened_at, times_opened FROM circuit"
    " WHERE webhook_id = ANY ($1)";

constexpr std::string_view open_circuits_sql =
    "SELECT webhook_id, state FROM circuit WHERE state <> 0";

constexpr std::string_view dead_counts_sql =
    "SELECT tenant_id, count(*) FROM delivery WHERE state = 3 GROUP BY tenant_id";

std::vector<OpenPeriod> read_periods(const Rows& rows) {
  std::vector<OpenPeriod> periods;
  for (int row = 0; row < rows.count(); ++row) {
    periods.push_back({.opened_at = rows.time(row, 0),
                       .ended_at = rows.time_or_null(row, 1),
                       .reason = rows.as<OpenReason>(row, 2)});
  }
  return periods;
}

class PostgresHistory final : public History {
 public:
  explicit PostgresHistory(std::shared_ptr<ReadConnection> connection)
      : connection_(std::move(connection)) {}

  Result<Listed<DeliveryRecord>> list_deliveries(const DeliveryFilter& filter,
                                                 const Page& page) override {
    return connection_->read(
        [&](Session& session) { return postgres::list_deliveries(session, filter, page); });
  }

  Result<DeliveryRecord> find_delivery(DeliveryId id) override {
    POSTRIDER_TRY(const Rows rows, query(find_delivery_sql(), id));
    if (rows.count() == 0) {
      return fail(Errc::not_found, "There is no such delivery.");
    }
    return read_record(rows, 0);
  }

  Result<ListedAttempts> list_attempts(const AttemptFilter& filter,
                                       const AttemptPage& page) override {
    return connection_->read(
        [&](Session& session) { return postgres::list_attempts(session, filter, page); });
  }

  Result<std::vector<Attempt>> attempts_of(DeliveryId id) override {
    POSTRIDER_TRY(const Rows rows, query(attempts_sql(), id));
    std::vector<Attempt> attempts;
    for (int row = 0; row < rows.count(); ++row) {
      POSTRIDER_TRY(Attempt attempt, read_attempt(rows, row));
      attempts.push_back(std::move(attempt));
    }
    return attempts;
  }

  Result<std::map<std::uint32_t, RequestShape>> requests_of(DeliveryId id) override {
    return connection_->read(
        [&](Session& session) { return read_requests(session, id, connection_->vault().get()); });
  }

  Result<std::vector<OpenPeriod>> open_periods_of(DeliveryId id) override {
    POSTRIDER_TRY(const Rows rows, query(open_periods_sql, id, std::int64_t{open_periods_max}));
    std::vector<OpenPeriod> periods = read_periods(rows);
    std::ranges::reverse(periods);
    return periods;
  }

  Result<Listed<OpenPeriod>> list_open_periods(WebhookId id, const Page& page) override {
    Listed<OpenPeriod> listed;
    if (page.limit == 0) {
      return listed;
    }
    POSTRIDER_TRY(const Rows rows,
                  query(periods_sql, id, page.before.value_or(to_unix_ms(wall_time_max)),
                        std::int64_t{page.limit} + 1, std::int64_t{page.offset}));
    listed.items = read_periods(rows);
    if (listed.items.size() > page.limit) {
      listed.items.resize(page.limit);
      listed.next = to_unix_ms(listed.items.back().opened_at);
    }
    return listed;
  }

  Result<std::map<WebhookId, CircuitRecord>> circuits_of(
      const std::vector<WebhookId>& ids) override {
    POSTRIDER_TRY(const Rows rows, connection_->read([&](Session& session) {
      return session.run(circuits_sql, Parameters::of(id_array(ids)));
    }));
    std::map<WebhookId, CircuitRecord> circuits;
    for (int row = 0; row < rows.count(); ++row) {
      circuits[rows.id<WebhookId>(row, 0)] = {.state = rows.as<CircuitState>(row, 1),
                                              .openings_in_row = rows.as<std::uint32_t>(row, 2),
                                              .changed_at = rows.time(row, 3),
                                              .open_until = rows.time_or_null(row, 4),
                                              .forced_until = rows.time_or_null(row, 5),
                                              .forced_open = rows.integer(row, 6) != 0,
                                              .failing_since = rows.time_or_null(row, 7),
                                              .counting_since = rows.time(row, 8),
                                              .opened_at = rows.time_or_null(row, 9),
                                              .times_opened = rows.as<std::uint32_t>(row, 10)};
    }
    return circuits;
  }

  Result<std::vector<PastCall>> recent_calls(WebhookId id, const CallsToRestore& which) override {
    return connection_->read(
        [&](Session& session) { return read_recent_calls(session, id, which); });
  }

  Result<std::map<WebhookId, CircuitState>> open_circuits() override {
    POSTRIDER_TRY(const Rows rows, query(open_circuits_sql));
    std::map<WebhookId, CircuitState> circuits;
    for (int row = 0; row < rows.count(); ++row) {
      circuits.emplace(rows.id<WebhookId>(row, 0), rows.as<CircuitState>(row, 1));
    }
    return circuits;
  }

  Result<Listed<Event>> list_events(const EventFilter& filter, const Page& page) override {
    return connection_->read(
        [&](Session& session) { return postgres::list_events(session, filter, page); });
  }

  Result<Event> find_event(EventId id) override {
    POSTRIDER_TRY(const Rows rows, query(find_event_sql(), id));
    if (rows.count() == 0) {
      return fail(Errc::not_found, "There is no such event.");
    }
    return read_event(rows, 0);
  }

  Result<std::uint64_t> fanout_remaining(EventId id) override {
    POSTRIDER_TRY(const Rows rows, query(fanout_sql, id));
    return rows.count() == 0 ? 0 : rows.as<std::uint64_t>(0, 0);
  }

  Result<Listed<EventForWebhook>> list_events_for(WebhookId webhook_id, const EventFilter& filter,
                                                  const ForwardPage& page) override {
    return connection_->read([&](Session& session) {
      return postgres::list_events_for(session,
                                       {.webhook_id = webhook_id, .filter = filter, .page = page});
    });
  }

  Result<PartialCount> count_deliveries(const DeliveryFilter& filter,
                                        const CountRange& range) override {
    return connection_->read(
        [&](Session& session) { return postgres::count_deliveries(session, filter, range); });
  }

  Result<std::optional<std::int64_t>> scan_dead_letters(const DeliveryFilter& filter,
                                                        const CountRange& range,
                                                        const TakeDeadLetter& take) override {
    POSTRIDER_ASSERT(lists_dead_letters(filter));
    // A read may run twice, so `take` is called after it.
    POSTRIDER_TRY(const DeadLetterRows found, connection_->read([&](Session& session) {
      return read_dead_letters(session, filter, range);
    }));
    for (const DeadLetterRow& row : found.rows) {
      take({.webhook_id = row.webhook_id,
            .event_type = row.event_type,
            .failure_category = row.failure_category,
            .classification = row.classification,
            .completed_at = row.completed_at});
    }
    return found.next;
  }

  Result<std::optional<TenantId>> tenant_of_removed(WebhookId id) override {
    POSTRIDER_TRY(const Rows rows, query(removed_tenant_sql, id));
    return rows.count() == 0 ? std::nullopt : std::optional{rows.text(0, 0)};
  }

  Result<WebhookHealth> webhook_health(WebhookId id) override {
    return connection_->read([&](Session& session) { return read_health(session, id); });
  }

  Result<std::map<WebhookId, LatestResults>> latest_results(
      const std::vector<WebhookId>& ids) override {
    return connection_->read([&](Session& session) { return read_latest_results(session, ids); });
  }

  Result<TenantCounts> waiting_counts() override {
    return connection_->read([](Session& session) { return count_waiting(session); });
  }

  Result<std::map<TenantId, std::uint64_t>> dead_letter_counts() override {
    POSTRIDER_TRY(const Rows rows, query(dead_counts_sql));
    std::map<TenantId, std::uint64_t> counts;
    for (int row = 0; row < rows.count(); ++row) {
      counts.emplace(rows.text(row, 0), rows.as<std::uint64_t>(row, 1));
    }
    return counts;
  }

 private:
  /// One statement. Its answer is consistent by itself.
  template <class... Values>
  Result<Rows> query(std::string_view sql, const Values&... values) {
    return connection_->read(
        [&](Session& session) { return session.run(sql, Parameters::of(values...)); });
  }

  std::shared_ptr<ReadConnection> connection_;
};

}  // namespace

std::unique_ptr<History> make_history(std::shared_ptr<ReadConnection> connection) {
  return std::make_unique<PostgresHistory>(std::move(connection));
}

}  // namespace postrider::postgres
