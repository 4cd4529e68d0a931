#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "ports/health_tally.h"

#include "adapters/sqlite/attempt_detail.h"
#include "adapters/sqlite/data_directory.h"
#include "adapters/sqlite/database.h"
#include "adapters/sqlite/history_query.h"
#include "adapters/sqlite/rows.h"
#include "adapters/sqlite/sqlite_store.h"

namespace postrider {
namespace sqlite {
namespace {

constexpr std::string_view tenant_sql = "SELECT tenant FROM tenant WHERE name = ?1";
constexpr std::string_view type_sql = "SELECT type FROM event_type WHERE name = ?1";
constexpr std::string_view lane_sql = "SELECT lane FROM lane WHERE webhook_id = ?1";
constexpr std::string_view event_sql = "SELECT sequence FROM event WHERE id = ?1";

constexpr std::string_view find_delivery_sql =
    "SELECT " POSTRIDER_RECORD_COLUMNS " FROM delivery d WHERE d.id = ?1";

constexpr std::string_view find_event_sql =
    "SELECT " POSTRIDER_EVENT_COLUMNS " FROM event e WHERE e.id = ?1";

constexpr std::string_view attempts_sql = R"sql(
  SELECT id, number, trigger, scheduled_at, executed_at, duration_us, next_retry_at,
         failure_category, http_status, detail
    FROM attempt WHERE delivery = (SELECT sequence FROM delivery WHERE id = ?1) ORDER BY number
)sql";

constexpr std::string_view recent_attempts_sql = R"sql(
  SELECT executed_at, failure_category, duration_us, delivery, number
    FROM attempt INDEXED BY attempt_recent
   WHERE lane = ?1 AND failed = ?2
   ORDER BY executed_at DESC, delivery DESC, number DESC LIMIT ?3
)sql";

constexpr std::string_view waiting_counts_sql = R"sql(
  SELECT state, count(*) FROM delivery INDEXED BY delivery_order
   WHERE lane = ?1 AND state <= 1 GROUP BY state
)sql";

constexpr std::string_view dead_count_sql = R"sql(
  SELECT count(*) FROM delivery INDEXED BY delivery_dead_lane WHERE lane = ?1 AND state = 3
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

/// Cuts the row too many off again, and says where the next page starts.
template <class Item>
void finish_page(Listed<Item>& listed, std::vector<std::int64_t>& sequences, const Page& page) {
  if (listed.items.size() > page.limit) {
    listed.items.resize(page.limit);
    listed.next = sequences[page.limit - 1];
  }
}

class SqliteHistory final : public History {
 public:
  explicit SqliteHistory(Database database) : database_(std::move(database)) {}

  Result<Listed<DeliveryRecord>> list_deliveries(const DeliveryFilter& filter,
                                                 const Page& page) override {
    return snapshot([&] { return list(filter, page); });
  }

  Result<DeliveryRecord> find_delivery(DeliveryId id) override {
    POSTRIDER_TRY(Statement statement, database_.prepare(find_delivery_sql));
    Query query = statement.query(id);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return fail(Errc::not_found, "There is no such delivery.");
    }
    return read_record(query);
  }

  Result<std::vector<Attempt>> attempts_of(DeliveryId id) override {
    POSTRIDER_TRY(Statement statement, database_.prepare(attempts_sql));
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
    return snapshot([&] { return list(filter, page); });
  }

  Result<Event> find_event(EventId id) override {
    POSTRIDER_TRY(Statement statement, database_.prepare(find_event_sql));
    Query query = statement.query(id);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return fail(Errc::not_found, "There is no such event.");
    }
    return read_event(query);
  }

  Result<WebhookHealth> webhook_health(WebhookId id) override {
    return snapshot([&] { return health(id); });
  }

  Result<std::map<TenantId, std::uint64_t>> dead_letter_counts() override {
    POSTRIDER_TRY(Statement statement, database_.prepare(dead_counts_sql));
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
  /// Several queries, one state of the store.
  template <class Body>
  std::invoke_result_t<Body> snapshot(Body body) {
    POSTRIDER_CHECK(database_.execute("BEGIN"));
    auto result = body();
    const Result<void> ended = database_.execute("ROLLBACK");
    if (result && !ended) {
      return tl::make_unexpected(ended.error());
    }
    return result;
  }

  template <class Key>
  Result<std::optional<std::int64_t>> number_of(std::string_view sql, const Key& key) {
    POSTRIDER_TRY(Statement statement, database_.prepare(sql));
    Query query = statement.query(key);
    POSTRIDER_TRY(const bool found, query.next());
    return found ? std::optional{query.integer(0)} : std::nullopt;
  }

  /// The numbers of those names that have one. Empty: nothing can match.
  template <class Key>
  Result<std::vector<std::int64_t>> numbers_of(std::string_view sql, const std::vector<Key>& keys) {
    std::vector<std::int64_t> numbers;
    for (const Key& key : keys) {
      POSTRIDER_TRY(const std::optional<std::int64_t> number, number_of(sql, key));
      if (number) {
        numbers.push_back(*number);
      }
    }
    std::ranges::sort(numbers);
    const auto repeats = std::ranges::unique(numbers);
    numbers.erase(repeats.begin(), repeats.end());
    return numbers;
  }

  Result<Listed<DeliveryRecord>> list(const DeliveryFilter& filter, const Page& page) {
    DeliveryTerms terms;
    POSTRIDER_TRY(terms.types, numbers_of(type_sql, filter.event_types));
    POSTRIDER_TRY(const std::vector<std::int64_t> lanes, numbers_of(lane_sql, filter.webhook_ids));
    if (filter.tenant_id) {
      POSTRIDER_TRY(terms.tenant, number_of(tenant_sql, *filter.tenant_id));
    }
    if (filter.event_id) {
      POSTRIDER_TRY(terms.event, number_of(event_sql, *filter.event_id));
    }
    const bool nothing = (filter.tenant_id && !terms.tenant) || (filter.event_id && !terms.event) ||
                         (!filter.event_types.empty() && terms.types.empty()) ||
                         (!filter.webhook_ids.empty() && lanes.empty()) || page.limit == 0;
    if (nothing) {
      return Listed<DeliveryRecord>{};
    }
    if (lanes.size() > 1) {
      return merge_lanes(filter, terms, page, lanes);
    }
    if (lanes.size() == 1) {
      terms.lane = lanes.front();
    }
    return read_records(select_deliveries(filter, terms, page), page);
  }

  /// The page of several webhooks is within the first rows of each.
  Result<Listed<DeliveryRecord>> merge_lanes(const DeliveryFilter& filter, DeliveryTerms terms,
                                             const Page& page,
                                             const std::vector<std::int64_t>& lanes) {
    Page each = page;
    each.limit = page.limit + page.offset;
    each.offset = 0;
    std::vector<DeliveryRecord> all;
    for (const std::int64_t lane : lanes) {
      terms.lane = lane;
      Page whole = each;
      whole.limit += 1;
      POSTRIDER_TRY(Listed<DeliveryRecord> part,
                    read_records(select_deliveries(filter, terms, each), whole));
      std::ranges::move(part.items, std::back_inserter(all));
    }
    std::ranges::sort(all, std::greater<>{},
                      [](const DeliveryRecord& record) { return record.delivery.sequence; });
    all.erase(all.begin(), all.begin() + std::min<std::ptrdiff_t>(page.offset, std::ssize(all)));
    Listed<DeliveryRecord> listed{std::move(all), std::nullopt};
    std::vector<std::int64_t> sequences;
    for (const DeliveryRecord& record : listed.items) {
      sequences.push_back(record.delivery.sequence);
    }
    finish_page(listed, sequences, page);
    return listed;
  }

  Result<Listed<DeliveryRecord>> read_records(const Select& select, const Page& page) {
    POSTRIDER_TRY(Statement statement, select.prepare(database_));
    Listed<DeliveryRecord> listed;
    std::vector<std::int64_t> sequences;
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        break;
      }
      listed.items.push_back(read_record(query));
      sequences.push_back(query.integer(0));
    }
    finish_page(listed, sequences, page);
    return listed;
  }

  Result<Listed<Event>> list(const EventFilter& filter, const Page& page) {
    EventTerms terms;
    POSTRIDER_TRY(terms.types, numbers_of(type_sql, filter.types));
    if (filter.tenant_id) {
      POSTRIDER_TRY(terms.tenant, number_of(tenant_sql, *filter.tenant_id));
    }
    const bool nothing = (filter.tenant_id && !terms.tenant) ||
                         (!filter.types.empty() && terms.types.empty()) || page.limit == 0;
    if (nothing) {
      return Listed<Event>{};
    }
    POSTRIDER_TRY(Statement statement, select_events(filter, terms, page).prepare(database_));
    Listed<Event> listed;
    std::vector<std::int64_t> sequences;
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        break;
      }
      listed.items.push_back(read_event(query));
      sequences.push_back(query.integer(0));
    }
    finish_page(listed, sequences, page);
    return listed;
  }

  Result<WebhookHealth> health(WebhookId id) {
    POSTRIDER_TRY(const std::optional<std::int64_t> lane, number_of(lane_sql, id));
    if (!lane) {
      return WebhookHealth{};
    }
    POSTRIDER_TRY(HealthTally tally, recent_attempts(*lane));
    WebhookHealth health = tally.finish();
    POSTRIDER_TRY(Statement waiting, database_.prepare(waiting_counts_sql));
    Query counts = waiting.query(*lane);
    for (;;) {
      POSTRIDER_TRY(const bool found, counts.next());
      if (!found) {
        break;
      }
      health.deliveries[counts.as<DeliveryState>(0)] = counts.as<std::uint64_t>(1);
    }
    POSTRIDER_TRY(const std::optional<std::int64_t> dead, number_of(dead_count_sql, *lane));
    if (dead.value_or(0) > 0) {
      health.deliveries[DeliveryState::dead_letter] = static_cast<std::uint64_t>(*dead);
    }
    return health;
  }

  /// The latest of both kinds, from two walks along the index that take turns by time.
  Result<HealthTally> recent_attempts(std::int64_t lane) {
    struct Recent {
      AttemptSummary summary;
      std::int64_t delivery = 0;
      std::int64_t number = 0;
    };
    std::vector<Recent> attempts;
    POSTRIDER_TRY(Statement statement, database_.prepare(recent_attempts_sql));
    for (const bool failed : {false, true}) {
      Query query = statement.query(lane, failed, health_attempts_max);
      for (;;) {
        POSTRIDER_TRY(const bool found, query.next());
        if (!found) {
          break;
        }
        attempts.push_back(
            {{query.time(0), query.as_or_null<FailureCategory>(1), Micros{query.integer(2)}},
             query.integer(3),
             query.integer(4)});
      }
    }
    std::ranges::sort(attempts, std::greater<>{}, [](const Recent& recent) {
      return std::tuple{recent.summary.executed_at, recent.delivery, recent.number};
    });
    HealthTally tally;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      const AttemptSummary& summary = attempts[i].summary;
      if (i < health_attempts_max) {
        tally.add(summary);
      } else if (summary.failure) {
        tally.note_failure(summary.executed_at);
      } else {
        tally.note_success(summary.executed_at);
      }
    }
    return tally;
  }

  Database database_;
};

}  // namespace
}  // namespace sqlite

Result<std::unique_ptr<History>> open_sqlite_history(const SqliteOptions& options) {
  POSTRIDER_TRY(sqlite::Database database,
                sqlite::Database::open({.file = sqlite::database_file(options.directory),
                                        .access = sqlite::Access::read,
                                        .vfs = options.vfs}));
  POSTRIDER_CHECK(
      database.execute("PRAGMA mmap_size = 0; PRAGMA cache_size = -8192;"
                       "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF"));
  return std::make_unique<sqlite::SqliteHistory>(std::move(database));
}

}  // namespace postrider
