#include "adapters/sqlite/history/history.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stored/attempt_detail.h"

#include "adapters/sql/admin/circuit_row.h"
#include "adapters/sql/admin/request_shape_rows.h"
#include "adapters/sql/state_sql.h"
#include "adapters/sqlite/database/snapshot.h"
#include "adapters/sqlite/history/health.h"
#include "adapters/sqlite/history/history_lists.h"
#include "adapters/sqlite/history/history_rows.h"
#include "adapters/sqlite/ledger/circuit_store.h"
#include "adapters/sqlite/ledger/lanes.h"
#include "adapters/sqlite/ledger/rows.h"

namespace postrider::sqlite {
namespace {

constexpr std::string_view find_delivery_sql =
    "SELECT " POSTRIDER_RECORD_COLUMNS " FROM delivery d WHERE d.id = ?1";

constexpr std::string_view find_event_sql =
    "SELECT " POSTRIDER_EVENT_COLUMNS " FROM event e WHERE e.id = ?1";

constexpr std::string_view fanout_sql =
    "SELECT remaining FROM fanout WHERE event = (SELECT sequence FROM event WHERE id = ?1)";

constexpr std::string_view attempts_sql =
    "SELECT " POSTRIDER_ATTEMPT_COLUMNS
    " FROM attempt WHERE delivery = (SELECT sequence FROM delivery WHERE id = ?1) ORDER BY number";

constexpr std::string_view shapes_sql =
    "SELECT number, detail FROM attempt"
    " WHERE delivery = (SELECT sequence FROM delivery WHERE id = ?1)";

constexpr std::string_view webhook_sql =
    "SELECT webhook_id FROM lane WHERE lane = (SELECT lane FROM delivery WHERE id = ?1)";

constexpr std::string_view removed_tenant_sql =
    "SELECT tenant_id FROM removed_webhook WHERE webhook_id = ?1";

// Newest first.
constexpr std::string_view open_periods_sql = R"sql(
  SELECT p.opened_at, p.ended_at, p.reason
    FROM delivery d CROSS JOIN lane l ON l.lane = d.lane
    CROSS JOIN circuit_period p ON p.webhook_id = l.webhook_id
   WHERE d.id = ?1 AND (d.completed_at IS NULL OR p.opened_at < d.completed_at)
     AND (p.ended_at IS NULL OR p.ended_at > d.created_at)
   ORDER BY p.opened_at DESC LIMIT ?2
)sql";

constexpr std::string_view periods_sql = R"sql(
  SELECT opened_at, ended_at, reason FROM circuit_period
   WHERE webhook_id = ?1 AND opened_at < ?2 ORDER BY opened_at DESC LIMIT ?3 OFFSET ?4
)sql";

constexpr std::string_view circuit_sql =
    "SELECT " POSTRIDER_CIRCUIT_COLUMNS " FROM circuit WHERE webhook_id = ?1";

constexpr std::string_view open_circuits_sql =
    "SELECT webhook_id, state FROM circuit WHERE state <> 0";

constexpr auto dead_counts_sql = sql::with_states(R"sql(
  SELECT (SELECT name FROM tenant WHERE tenant = d.tenant), count(*)
    FROM delivery d INDEXED BY delivery_dead_tenant WHERE d.state = {dead_letter} GROUP BY d.tenant
)sql");

OpenPeriod read_period(const Query& query) {
  return {.opened_at = query.time(0),
          .ended_at = query.time_or_null(1),
          .reason = query.as<OpenReason>(2)};
}

class SqliteHistory final : public History {
 public:
  SqliteHistory(std::shared_ptr<Database> database, std::shared_ptr<const Vault> vault)
      : database_(std::move(database)), vault_(std::move(vault)) {}

  Result<Listed<DeliveryRecord>> list_deliveries(const DeliveryFilter& filter,
                                                 const Page& page) override {
    return snapshot(*database_, [&] { return sqlite::list_deliveries(*database_, filter, page); });
  }

  Result<DeliveryRecord> find_delivery(DeliveryId id) override {
    POSTRIDER_TRY(Statement statement, database_->prepare(find_delivery_sql));
    Query query = statement.query(id);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return fail(Errc::not_found, "There is no such delivery.");
    }
    return read_record(query);
  }

  Result<ListedAttempts> list_attempts(const AttemptFilter& filter,
                                       const AttemptPage& page) override {
    return snapshot(*database_, [&] { return sqlite::list_attempts(*database_, filter, page); });
  }

  Result<std::vector<Attempt>> attempts_of(DeliveryId id) override {
    POSTRIDER_TRY(Statement statement, database_->prepare(attempts_sql));
    std::vector<Attempt> attempts;
    Query query = statement.query(id);
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return attempts;
      }
      POSTRIDER_TRY(Attempt attempt, read_attempt(query));
      attempts.push_back(std::move(attempt));
    }
  }

  Result<std::map<std::uint32_t, RequestShape>> requests_of(DeliveryId id) override {
    return snapshot(*database_, [&] { return read_requests(id); });
  }

  Result<std::vector<OpenPeriod>> open_periods_of(DeliveryId id) override {
    POSTRIDER_TRY(Statement statement, database_->prepare(open_periods_sql));
    std::vector<OpenPeriod> periods;
    Query query = statement.query(id, open_periods_max);
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        std::ranges::reverse(periods);
        return periods;
      }
      periods.push_back(read_period(query));
    }
  }

  Result<Listed<OpenPeriod>> list_open_periods(WebhookId id, const Page& page) override {
    POSTRIDER_TRY(Statement statement, database_->prepare(periods_sql));
    Listed<OpenPeriod> listed;
    Query query = statement.query(id, page.before.value_or(to_unix_ms(wall_time_max)),
                                  std::int64_t{page.limit} + 1, page.offset);
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found || page.limit == 0) {
        return listed;
      }
      if (listed.items.size() == page.limit) {
        listed.next = to_unix_ms(listed.items.back().opened_at);
        return listed;
      }
      listed.items.push_back(read_period(query));
    }
  }

  Result<std::map<WebhookId, CircuitRecord>> circuits_of(
      const std::vector<WebhookId>& ids) override {
    return snapshot(*database_, [&] { return read_circuits(ids); });
  }

  Result<std::vector<PastCall>> recent_calls(WebhookId id, const CallsToRestore& which) override {
    return read_recent_calls(*database_, id, which);
  }

  Result<std::map<WebhookId, CircuitState>> open_circuits() override {
    POSTRIDER_TRY(Statement statement, database_->prepare(open_circuits_sql));
    std::map<WebhookId, CircuitState> circuits;
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return circuits;
      }
      circuits.emplace(query.id<WebhookId>(0), query.as<CircuitState>(1));
    }
  }

  Result<Listed<Event>> list_events(const EventFilter& filter, const Page& page) override {
    return snapshot(*database_, [&] { return sqlite::list_events(*database_, filter, page); });
  }

  Result<Event> find_event(EventId id) override {
    POSTRIDER_TRY(Statement statement, database_->prepare(find_event_sql));
    Query query = statement.query(id);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return fail(Errc::not_found, "There is no such event.");
    }
    return read_event(query);
  }

  Result<std::uint64_t> fanout_remaining(EventId id) override {
    POSTRIDER_TRY(const std::vector<std::int64_t> remaining,
                  read_numbers(*database_, fanout_sql, id));
    return remaining.empty() ? 0 : static_cast<std::uint64_t>(remaining.front());
  }

  Result<Listed<EventForWebhook>> list_events_for(WebhookId webhook_id, const EventFilter& filter,
                                                  const ForwardPage& page) override {
    return snapshot(*database_, [&] {
      return sqlite::list_events_for(*database_,
                                     {.webhook_id = webhook_id, .filter = filter, .page = page});
    });
  }

  Result<PartialCount> count_deliveries(const DeliveryFilter& filter,
                                        const CountRange& range) override {
    return snapshot(*database_,
                    [&] { return sqlite::count_deliveries(*database_, filter, range); });
  }

  Result<std::optional<std::int64_t>> scan_dead_letters(const DeliveryFilter& filter,
                                                        const CountRange& range,
                                                        const TakeDeadLetter& take) override {
    POSTRIDER_ASSERT(lists_dead_letters(filter));
    return snapshot(*database_, [&] {
      return sqlite::scan_dead_letters(*database_,
                                       {.filter = filter, .range = range, .take = take});
    });
  }

  Result<std::optional<TenantId>> tenant_of_removed(WebhookId id) override {
    POSTRIDER_TRY(Statement statement, database_->prepare(removed_tenant_sql));
    Query query = statement.query(id);
    POSTRIDER_TRY(const bool found, query.next());
    return found ? std::optional{query.text(0)} : std::nullopt;
  }

  Result<WebhookHealth> webhook_health(WebhookId id) override {
    return snapshot(*database_, [&] { return read_health(*database_, id); });
  }

  Result<std::map<WebhookId, LatestResults>> latest_results(
      const std::vector<WebhookId>& ids) override {
    return snapshot(*database_, [&] { return read_latest_results(*database_, ids); });
  }

  Result<TenantCounts> waiting_counts() override { return count_waiting(*database_); }

  Result<std::map<TenantId, std::uint64_t>> dead_letter_counts() override {
    POSTRIDER_TRY(Statement statement, database_->prepare(dead_counts_sql));
    std::map<TenantId, std::uint64_t> counts;
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return counts;
      }
      counts[query.text(0)] = query.as<std::uint64_t>(1);
    }
  }

 private:
  Result<std::map<WebhookId, CircuitRecord>> read_circuits(const std::vector<WebhookId>& ids) {
    POSTRIDER_TRY(Statement statement, database_->prepare(circuit_sql));
    std::map<WebhookId, CircuitRecord> circuits;
    for (const WebhookId id : ids) {
      Query query = statement.query(id);
      POSTRIDER_TRY(const bool found, query.next());
      if (found) {
        circuits.emplace(id, sql::read_circuit(query));
      }
    }
    return circuits;
  }

  Result<std::map<std::uint32_t, RequestShape>> read_requests(DeliveryId id) {
    POSTRIDER_TRY(Statement statement, database_->prepare(shapes_sql));
    std::map<std::uint32_t, RequestShape> requests;
    std::map<std::uint32_t, std::optional<RequestShape>> shapes;
    Query query = statement.query(id);
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return requests;
      }
      POSTRIDER_TRY(const std::uint32_t shape, stored::unpack_shape_number(query.bytes(1)));
      if (shape != 0 && !shapes.contains(shape)) {
        POSTRIDER_TRY(const WebhookId webhook_id, webhook_of(id));
        POSTRIDER_TRY(shapes[shape],
                      sql::read_shape(*database_, {webhook_id, shape}, vault_.get()));
      }
      if (shapes[shape]) {
        requests.emplace(query.as<std::uint32_t>(0), *shapes[shape]);
      }
    }
  }

  Result<WebhookId> webhook_of(DeliveryId id) {
    POSTRIDER_TRY(Statement statement, database_->prepare(webhook_sql));
    Query query = statement.query(id);
    POSTRIDER_TRY(const bool found, query.next());
    return found ? query.id<WebhookId>(0) : WebhookId{};
  }

  std::shared_ptr<Database> database_;
  std::shared_ptr<const Vault> vault_;  // May be null.
};

}  // namespace

std::unique_ptr<History> make_history(std::shared_ptr<Database> database,
                                      std::shared_ptr<const Vault> vault) {
  return std::make_unique<SqliteHistory>(std::move(database), std::move(vault));
}

}  // namespace postrider::sqlite
