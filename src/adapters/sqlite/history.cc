#include "adapters/sqlite/history.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/sqlite/attempt_detail.h"
#include "adapters/sqlite/health.h"
#include "adapters/sqlite/history_lists.h"
#include "adapters/sqlite/rows.h"
#include "adapters/sqlite/snapshot.h"

namespace postrider::sqlite {
namespace {

constexpr std::string_view find_delivery_sql =
    "SELECT " POSTRIDER_RECORD_COLUMNS " FROM delivery d WHERE d.id = ?1";

constexpr std::string_view find_event_sql =
    "SELECT " POSTRIDER_EVENT_COLUMNS " FROM event e WHERE e.id = ?1";

constexpr std::string_view attempts_sql = R"sql(
  SELECT id, number, trigger, scheduled_at, executed_at, duration_us, next_retry_at,
         failure_category, http_status, detail
    FROM attempt WHERE delivery = (SELECT sequence FROM delivery WHERE id = ?1) ORDER BY number
)sql";

constexpr std::string_view dead_counts_sql = R"sql(
  SELECT (SELECT name FROM tenant WHERE tenant = d.tenant), count(*)
    FROM delivery d INDEXED BY delivery_dead_tenant WHERE d.state = 3 GROUP BY d.tenant
)sql";

Result<Attempt> read_attempt(const Query& query) {
  Attempt attempt;
  attempt.id = query.id<AttemptId>(0);
  attempt.number = query.as<std::uint32_t>(1);
  attempt.trigger = query.as<Trigger>(2);
  attempt.scheduled_at = query.time(3);
  attempt.outcome.executed_at = query.time(4);
  attempt.outcome.duration = Micros{query.integer(5)};
  attempt.next_retry_at = query.time_or_null(6);
  attempt.failure_category = query.as_or_null<FailureCategory>(7);
  attempt.outcome.http_status = query.as_or_null<std::uint16_t>(8);
  POSTRIDER_CHECK(unpack_detail(query.bytes(9), attempt.outcome));
  return attempt;
}

class SqliteHistory final : public History {
 public:
  explicit SqliteHistory(std::shared_ptr<Database> database) : database_(std::move(database)) {}

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

  Result<Listed<EventForWebhook>> list_events_for(WebhookId webhook_id, const EventFilter& filter,
                                                  const Onward& page) override {
    return snapshot(*database_, [&] {
      return sqlite::list_events_for(*database_,
                                     {.webhook_id = webhook_id, .filter = filter, .page = page});
    });
  }

  Result<Counted> count_deliveries(const DeliveryFilter& filter, const Stretch& stretch) override {
    return snapshot(*database_,
                    [&] { return sqlite::count_deliveries(*database_, filter, stretch); });
  }

  Result<Counted> count_events(const EventFilter& filter, const Stretch& stretch) override {
    return snapshot(*database_, [&] { return sqlite::count_events(*database_, filter, stretch); });
  }

  Result<WebhookHealth> webhook_health(WebhookId id) override {
    return snapshot(*database_, [&] { return read_health(*database_, id); });
  }

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
  std::shared_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<History> make_history(std::shared_ptr<Database> database) {
  return std::make_unique<SqliteHistory>(std::move(database));
}

}  // namespace postrider::sqlite
