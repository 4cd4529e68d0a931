#include "adapters/postgres/store/retention/retention_reader.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "adapters/postgres/store/retention/expired_contents.h"
#include "adapters/sql/state_sql.h"

namespace postrider::postgres {
namespace {

using sql::with_states;

// A page that holds more than this ends early: it is held in memory while it is archived, and
// removed in one transaction.
constexpr std::size_t page_bytes_max = 8u << 20;
constexpr std::size_t delivery_bytes = 2'048;  // With its attempts, roughly.

// Every statement reads few rows through an index, whatever the statistics of the tables say.
constexpr std::string_view plan_settings =
    "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),"
    " set_config('enable_mergejoin', 'off', true)";

constexpr std::string_view events_sql = R"sql(
  SELECT e.sequence, e.id, e.created_at, octet_length(e.data),
         greatest(e.delivery_count, e.fanned_out),
         EXISTS (SELECT FROM fanout f WHERE f.event = e.sequence)
    FROM event e WHERE e.sequence > $1 ORDER BY e.sequence LIMIT $2
)sql";

// The latest completion for each event and state; null if a delivery has none. Leaves out states
// that do not keep an event from being removed.
constexpr auto standings_sql = with_states(R"sql(
  SELECT event_id, state,
         CASE WHEN count(completed_at) = count(*) THEN max(completed_at) END
    FROM (SELECT event_id, state, CAST(NULL AS bigint) AS completed_at
            FROM waiting WHERE event_id = ANY($1)
          UNION ALL
          SELECT event_id, state, completed_at
            FROM delivery WHERE event_id = ANY($1) AND state = {dead_letter}) d
   GROUP BY event_id, state
)sql");

constexpr auto dead_letters_sql = with_states(R"sql(
  SELECT sequence, id, event_id, false, completed_at FROM delivery
   WHERE state = {dead_letter} AND sequence > $1 ORDER BY sequence LIMIT $2
)sql");

// The conditions and the order are written so that only the indexes by webhook can be used.
constexpr std::string_view of_webhook_sql = R"sql(
  SELECT sequence, id, event_id, waits FROM (
    (SELECT sequence, id, event_id, false AS waits FROM delivery
      WHERE webhook_id >= $1 AND (webhook_id, sequence) < ($1, $2)
      ORDER BY webhook_id DESC, sequence DESC LIMIT $3)
    UNION ALL
    (SELECT sequence, id, event_id, true FROM waiting
      WHERE webhook_id >= $1 AND (webhook_id, sequence) < ($1, $2)
      ORDER BY webhook_id DESC, sequence DESC LIMIT $3)) stored
   ORDER BY sequence DESC LIMIT $3
)sql";

constexpr std::string_view event_sizes_sql =
    "SELECT id, sequence, octet_length(data) FROM event WHERE id = ANY($1)";

constexpr std::string_view next_webhook_sql = R"sql(
  SELECT webhook_id FROM removed_webhook
   WHERE webhook_id > $1 AND removed_at <= $2 ORDER BY webhook_id LIMIT 1
)sql";

struct Candidate {
  ExpiredIds ids;
  std::size_t bytes = 0;
};

struct CandidatePage {
  std::vector<Candidate> items;
  std::optional<std::int64_t> next;
};

using Standings = std::unordered_map<EventId, std::vector<DeliveryCompletion>>;

Result<Standings> read_standings(Session& session, Array events) {
  POSTRIDER_TRY(const Rows rows, session.run(standings_sql, Parameters::of(std::move(events))));
  Standings standings;
  for (int row = 0; row < rows.count(); ++row) {
    standings[rows.id<EventId>(row, 0)].push_back(
        {rows.as<DeliveryState>(row, 1), rows.time_or_null(row, 2)});
  }
  return standings;
}

/// Ends at the first page without an expired event: sequences follow time, except around a clock
/// jump.
Result<CandidatePage> find_events(Session& session, const ExpiredQuery& query) {
  CandidatePage page;
  if (!query.cutoffs.events) {
    return page;
  }
  POSTRIDER_TRY(const Rows rows, session.run(events_sql, Parameters::of(query.after, query.limit)));
  Array old{ElementType::uuid};
  for (int row = 0; row < rows.count(); ++row) {
    if (rows.time(row, 2) <= *query.cutoffs.events) {
      old.add(rows.id<EventId>(row, 1));
    }
  }
  if (old.size() == 0) {
    return page;
  }
  POSTRIDER_TRY(Standings standings, read_standings(session, std::move(old)));
  for (int row = 0; row < rows.count(); ++row) {
    const auto id = rows.id<EventId>(row, 1);
    const bool is_fanning_out = rows.boolean(row, 5);
    if (!is_fanning_out && event_is_expired(rows.time(row, 2), standings[id], query.cutoffs)) {
      page.items.push_back(
          {.ids = {.key = {.sequence = rows.integer(row, 0)}, .event_id = id},
           .bytes = rows.as<std::size_t>(row, 3) + delivery_bytes * rows.as<std::size_t>(row, 4)});
    }
  }
  if (rows.count() == static_cast<int>(query.limit)) {
    page.next = rows.integer(rows.count() - 1, 0);
  }
  return page;
}

/// Adds the sequences and sizes of their events to candidates that are single deliveries.
Result<void> add_events(Session& session, std::vector<Candidate>& candidates) {
  if (candidates.empty()) {
    return {};
  }
  Array ids{ElementType::uuid};
  for (const Candidate& candidate : candidates) {
    ids.add(candidate.ids.event_id);
  }
  POSTRIDER_TRY(const Rows rows, session.run(event_sizes_sql, Parameters::of(std::move(ids))));
  std::unordered_map<EventId, int> places;
  for (int row = 0; row < rows.count(); ++row) {
    places.emplace(rows.id<EventId>(row, 0), row);
  }
  for (Candidate& candidate : candidates) {
    if (const auto found = places.find(candidate.ids.event_id); found != places.end()) {
      candidate.ids.key.sequence = rows.integer(found->second, 1);
      candidate.bytes = rows.as<std::size_t>(found->second, 2) + delivery_bytes;
    }
  }
  return {};
}

/// `is_wanted(row)`: whether the delivery of the row can be removed. The columns of `rows` begin
/// with sequence, id and event_id.
template <class IsWanted>
Result<CandidatePage> choose_deliveries(Session& session, const Rows& rows, std::uint32_t limit,
                                        const IsWanted& is_wanted) {
  CandidatePage page;
  for (int row = 0; row < rows.count(); ++row) {
    if (is_wanted(row)) {
      page.items.push_back({.ids = {.key = {.sequence = 0, .only_delivery = rows.integer(row, 0)},
                                    .event_id = rows.id<EventId>(row, 2),
                                    .delivery_id = rows.id<DeliveryId>(row, 1)}});
    }
  }
  if (rows.count() == static_cast<int>(limit)) {
    page.next = rows.integer(rows.count() - 1, 0);
  }
  POSTRIDER_CHECK(add_events(session, page.items));
  return page;
}

Result<CandidatePage> find_dead_letters(Session& session, const ExpiredQuery& query) {
  if (!query.cutoffs.dead_letters) {
    return CandidatePage{};
  }
  POSTRIDER_TRY(const Rows rows,
                session.run(dead_letters_sql, Parameters::of(query.after, query.limit)));
  return choose_deliveries(session, rows, query.limit, [&](int row) {
    return dead_letter_is_expired({DeliveryState::dead_letter, rows.time_or_null(row, 4)},
                                  query.cutoffs);
  });
}

Result<CandidatePage> find_deliveries_of_webhook(Session& session, const ExpiredQuery& query) {
  const std::int64_t before =
      query.after > 0 ? query.after : std::numeric_limits<std::int64_t>::max();
  POSTRIDER_TRY(const Rows rows,
                session.run(of_webhook_sql, Parameters::of(query.webhook_id, before, query.limit)));
  return choose_deliveries(session, rows, query.limit,
                           [&](int row) { return !rows.boolean(row, 3); });
}

/// Ends the page early if it is too large.
void cut(CandidatePage& page) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i + 1 < page.items.size(); ++i) {
    bytes += page.items[i].bytes;
    if (bytes > page_bytes_max) {
      const ExpiredKey& last = page.items[i].ids.key;
      page.next = last.only_delivery.value_or(last.sequence);
      page.items.resize(i + 1);
      return;
    }
  }
}

class PostgresRetentionReader final : public RetentionReader {
 public:
  explicit PostgresRetentionReader(std::shared_ptr<ReadConnection> connection)
      : connection_(std::move(connection)) {}

  Result<ExpiredPage> expired_events(const ExpiredQuery& query) override {
    return read_page(query, find_events);
  }

  Result<ExpiredPage> expired_dead_letters(const ExpiredQuery& query) override {
    return read_page(query, find_dead_letters);
  }

  Result<std::optional<WebhookId>> expired_webhook(const RetentionCutoffs& cutoffs,
                                                   std::optional<WebhookId> after) override {
    if (!cutoffs.removed_webhooks) {
      return std::nullopt;
    }
    return connection_->read([&](Session& session) -> Result<std::optional<WebhookId>> {
      POSTRIDER_TRY(const Rows rows,
                    session.run(next_webhook_sql, Parameters::of(after.value_or(WebhookId{}),
                                                                 *cutoffs.removed_webhooks)));
      return rows.count() > 0 ? std::optional{rows.id<WebhookId>(0, 0)} : std::nullopt;
    });
  }

  Result<ExpiredPage> deliveries_of_removed(const ExpiredQuery& query) override {
    return read_page(query, find_deliveries_of_webhook);
  }

 private:
  using Find = Result<CandidatePage> (*)(Session&, const ExpiredQuery&);

  Result<ExpiredPage> read_page(const ExpiredQuery& query, Find find) {
    return connection_->read([&](Session& session) -> Result<ExpiredPage> {
      session.queue(plan_settings);
      POSTRIDER_TRY(CandidatePage found, find(session, query));
      cut(found);
      std::vector<ExpiredIds> ids;
      ids.reserve(found.items.size());
      for (const Candidate& candidate : found.items) {
        ids.push_back(candidate.ids);
      }
      ExpiredPage page{.items = {}, .next = found.next};
      if (query.with_content) {
        POSTRIDER_TRY(page.items, read_contents(session, ids));
        return page;
      }
      for (const ExpiredIds& each : ids) {
        page.items.push_back({.sequence = each.key.sequence,
                              .only_delivery = each.key.only_delivery,
                              .event = {},
                              .deliveries = {}});
      }
      return page;
    });
  }

  std::shared_ptr<ReadConnection> connection_;
};

}  // namespace

std::unique_ptr<RetentionReader> make_retention_reader(std::shared_ptr<ReadConnection> connection) {
  return std::make_unique<PostgresRetentionReader>(std::move(connection));
}

}  // namespace postrider::postgres
