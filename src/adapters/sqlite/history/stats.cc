#include "adapters/sqlite/history/stats.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/stored/tally_bytes.h"

#include "adapters/sqlite/database/snapshot.h"

namespace postrider::sqlite {
namespace {

constexpr std::string_view tenant_sql = "SELECT tenant FROM tenant WHERE name = ?1";
constexpr std::string_view lane_sql = "SELECT lane FROM lane WHERE webhook_id = ?1";
constexpr std::string_view webhook_sql = "SELECT webhook_id FROM lane WHERE lane = ?1";

// ?3 is the tenant; NULL: all tenants.
constexpr std::string_view tenants_over_time_sql = R"sql(
  SELECT span, tally FROM tenant_stats
   WHERE span >= ?1 AND span < ?2 AND (?3 IS NULL OR tenant = ?3)
)sql";

// One seek per span, because rows of other lanes lie between two spans.
constexpr std::string_view lane_at_sql = R"sql(
  SELECT tally FROM webhook_stats WHERE span = ?1 AND lane = ?2 AND (?3 IS NULL OR tenant = ?3)
)sql";

constexpr std::string_view spans_sql =
    "SELECT min(span), max(span) FROM webhook_stats WHERE span >= ?1 AND span < ?2";

constexpr std::string_view lanes_sql = R"sql(
  SELECT lane, tally FROM webhook_stats
   WHERE span >= ?1 AND span < ?2 AND (?3 IS NULL OR tenant = ?3)
)sql";

// The current spans, which are still part of the lanes' rows.
constexpr std::string_view open_sql = R"sql(
  SELECT lane, tally_span, tally FROM lane
   WHERE tally_span >= ?1 AND tally_span < ?2 AND (?3 IS NULL OR tally_tenant = ?3)
)sql";

constexpr std::string_view open_lane_sql = R"sql(
  SELECT lane, tally_span, tally FROM lane
   WHERE tally_span >= ?1 AND tally_span < ?2 AND (?3 IS NULL OR tally_tenant = ?3) AND lane = ?4
)sql";

/// A filter with the numbers that the tables use.
struct Terms {
  std::int64_t first = 0;
  std::int64_t end = 0;  // Exclusive.
  std::optional<std::int64_t> tenant;
  std::optional<std::int64_t> lane;
  bool nothing = false;  // The tenant or webhook has no number, so nothing matches.
};

template <class Key>
Result<std::optional<std::int64_t>> number_of(Database& database, std::string_view sql,
                                              const Key& key) {
  POSTRIDER_TRY(Statement statement, database.prepare(sql));
  Query query = statement.query(key);
  POSTRIDER_TRY(const bool found, query.next());
  return found ? std::optional{query.integer(0)} : std::nullopt;
}

Result<Terms> to_terms(Database& database, const StatsFilter& filter) {
  Terms terms{.first = stats_span_of(filter.from),
              .end = stats_span_of(filter.to + stats_span - Millis{1})};
  if (filter.tenant_id) {
    POSTRIDER_TRY(terms.tenant, number_of(database, tenant_sql, *filter.tenant_id));
  }
  if (filter.webhook_id) {
    POSTRIDER_TRY(terms.lane, number_of(database, lane_sql, *filter.webhook_id));
  }
  terms.nothing = (filter.tenant_id && !terms.tenant) || (filter.webhook_id && !terms.lane);
  return terms;
}

using BySpan = std::map<std::int64_t, DeliveryTally>;

/// Adds the tallies of all rows to `sums`. A row has a key and a tally.
template <class Sums>
Result<void> add_rows(Query query, Sums& sums) {
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return {};
    }
    POSTRIDER_TRY(const DeliveryTally tally, stored::unpack_tally(query.bytes(1)));
    sums[query.integer(0)].add(tally);
  }
}

/// Calls `take(lane, span, tally)` for the current span of each lane.
template <class Take>
Result<void> for_each_open_span(Database& database, const Terms& terms, Take take) {
  POSTRIDER_TRY(Statement statement, database.prepare(terms.lane ? open_lane_sql : open_sql));
  Query query = terms.lane ? statement.query(terms.first, terms.end, terms.tenant, *terms.lane)
                           : statement.query(terms.first, terms.end, terms.tenant);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return {};
    }
    POSTRIDER_TRY(const DeliveryTally tally, stored::unpack_tally(query.bytes(2)));
    take(query.integer(0), query.integer(1), tally);
  }
}

Result<BySpan> sum_tenants(Database& database, const Terms& terms) {
  BySpan sums;
  POSTRIDER_TRY(Statement statement, database.prepare(tenants_over_time_sql));
  POSTRIDER_CHECK(add_rows(statement.query(terms.first, terms.end, terms.tenant), sums));
  return sums;
}

Result<BySpan> sum_lane(Database& database, const Terms& terms) {
  BySpan sums;
  POSTRIDER_CHECK(for_each_open_span(
      database, terms,
      [&](std::int64_t, std::int64_t span, const auto& tally) { sums[span].add(tally); }));
  POSTRIDER_TRY(Statement spans, database.prepare(spans_sql));
  Query range = spans.query(terms.first, terms.end);
  POSTRIDER_TRY(const bool some, range.next());
  if (!some || range.is_null(0)) {
    return sums;
  }
  POSTRIDER_TRY(Statement at, database.prepare(lane_at_sql));
  for (std::int64_t span = range.integer(0); span <= range.integer(1); ++span) {
    Query query = at.query(span, *terms.lane, terms.tenant);
    POSTRIDER_TRY(bool found, query.next());
    while (found) {
      POSTRIDER_TRY(const DeliveryTally tally, stored::unpack_tally(query.bytes(0)));
      sums[span].add(tally);
      POSTRIDER_TRY(found, query.next());
    }
  }
  return sums;
}

std::vector<SpanTally> to_buckets(const BySpan& sums, Millis bucket) {
  const std::int64_t spans = bucket / stats_span;
  std::vector<SpanTally> buckets;
  for (const auto& [span, tally] : sums) {
    const std::int64_t first = (span >= 0 ? span : span - spans + 1) / spans * spans;
    const WallTime start = stats_span_start(first);
    if (buckets.empty() || buckets.back().start != start) {
      buckets.push_back({start, {}});
    }
    buckets.back().tally.add(tally);
  }
  return buckets;
}

Result<std::vector<WebhookTally>> with_ids(
    Database& database, const std::unordered_map<std::int64_t, DeliveryTally>& lanes) {
  POSTRIDER_TRY(Statement statement, database.prepare(webhook_sql));
  std::vector<WebhookTally> webhooks;
  webhooks.reserve(lanes.size());
  for (const auto& [lane, tally] : lanes) {
    Query query = statement.query(lane);
    POSTRIDER_TRY(const bool found, query.next());
    if (found && !tally.empty()) {
      webhooks.push_back({query.id<WebhookId>(0), tally});
    }
  }
  return webhooks;
}

class SqliteStats final : public Stats {
 public:
  explicit SqliteStats(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<std::vector<SpanTally>> over_time(const StatsFilter& filter, Millis bucket) override {
    const auto read = [&]() -> Result<std::vector<SpanTally>> {
      POSTRIDER_TRY(const Terms terms, to_terms(*database_, filter));
      if (terms.nothing) {
        return std::vector<SpanTally>{};
      }
      POSTRIDER_TRY(const BySpan sums,
                    terms.lane ? sum_lane(*database_, terms) : sum_tenants(*database_, terms));
      return to_buckets(sums, bucket);
    };
    return snapshot(*database_, read);
  }

  Result<std::vector<WebhookTally>> by_webhook(const StatsFilter& filter) override {
    return snapshot(*database_, [&] { return read_webhooks(filter); });
  }

 private:
  Result<std::vector<WebhookTally>> read_webhooks(const StatsFilter& filter) {
    POSTRIDER_TRY(const Terms terms, to_terms(*database_, filter));
    if (terms.nothing) {
      return std::vector<WebhookTally>{};
    }
    std::unordered_map<std::int64_t, DeliveryTally> lanes;
    if (terms.lane) {
      POSTRIDER_TRY(const BySpan sums, sum_lane(*database_, terms));
      for (const auto& [span, tally] : sums) {
        lanes[*terms.lane].add(tally);
      }
    } else {
      POSTRIDER_TRY(Statement statement, database_->prepare(lanes_sql));
      POSTRIDER_CHECK(add_rows(statement.query(terms.first, terms.end, terms.tenant), lanes));
      const auto take = [&](std::int64_t lane, std::int64_t, const auto& tally) {
        lanes[lane].add(tally);
      };
      POSTRIDER_CHECK(for_each_open_span(*database_, terms, take));
    }
    POSTRIDER_TRY(std::vector<WebhookTally> webhooks, with_ids(*database_, lanes));
    sort_by_volume(webhooks);
    return webhooks;
  }

  std::shared_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<Stats> make_stats(std::shared_ptr<Database> database) {
  return std::make_unique<SqliteStats>(std::move(database));
}

}  // namespace postrider::sqlite
