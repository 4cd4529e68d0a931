#include "adapters/postgres/store/history/stats.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/stored/tally_bytes.h"

#include "adapters/postgres/store/history/built_query.h"

namespace postrider::postgres {
namespace {

// Bounds memory: the sums of 10,000 webhooks over a day are millions of rows.
constexpr int rows_at_once = 10'000;

/// A filter with its range of spans.
struct Terms {
  const StatsFilter& filter;
  std::int64_t first = 0;
  std::int64_t end = 0;  // Exclusive.
};

Terms to_terms(const StatsFilter& filter) {
  return {.filter = filter,
          .first = stats_span_of(filter.from),
          .end = stats_span_of(filter.to + stats_span - Millis{1})};
}

/// Rows of webhook_stats, by the index that begins with what the filter names.
BuiltQuery select_webhooks(const Terms& terms, std::string_view key) {
  ParameterList parameters;
  Conditions conditions;
  conditions.add(fmt::format("span >= {}", terms.first));
  conditions.add(fmt::format("span < {}", terms.end));
  if (terms.filter.webhook_id) {
    conditions.add("webhook_id = " + parameters.bind(*terms.filter.webhook_id));
  }
  if (terms.filter.tenant_id) {
    conditions.add("tenant_id = " + parameters.bind(*terms.filter.tenant_id));
  }
  return std::move(parameters)
      .build(fmt::format("SELECT {}, tally FROM webhook_stats{}", key, conditions.where()));
}

/// Rows of tenant_stats. For one tenant one search per span, because the rows of other tenants lie
/// between those of two spans.
BuiltQuery select_tenants(const Terms& terms) {
  ParameterList parameters;
  if (!terms.filter.tenant_id) {
    return std::move(parameters)
        .build(fmt::format("SELECT span, tally FROM tenant_stats WHERE span >= {} AND span < {}",
                           terms.first, terms.end));
  }
  const std::string tenant = parameters.bind(*terms.filter.tenant_id);
  return std::move(parameters)
      .build(fmt::format(
          "SELECT s.span, t.tally FROM generate_series("
          "greatest({0}::bigint, (SELECT min(span) FROM tenant_stats)),"
          " least({1}::bigint - 1, coalesce((SELECT max(span) FROM tenant_stats), {0}::bigint - 1)"
          ")) AS s (span) CROSS JOIN LATERAL (SELECT tally FROM tenant_stats"
          " WHERE span = s.span AND tenant_id = {2} OFFSET 0) t",
          terms.first, terms.end, tenant));
}

/// Calls `take(rows, row, tally)` for each row. The second column is the tally.
template <class Take>
Result<void> for_each_tally(Session& session, BuiltQuery query, const Take& take) {
  session.queue_once("DECLARE tallies NO SCROLL CURSOR FOR " + query.sql,
                     std::move(query.parameters));
  const std::string fetch = fmt::format("FETCH {} FROM tallies", rows_at_once);
  for (;;) {
    POSTRIDER_TRY(const Rows rows, session.run_once(fetch));
    for (int row = 0; row < rows.count(); ++row) {
      POSTRIDER_TRY(const DeliveryTally tally, stored::unpack_tally(rows.bytes(row, 1)));
      take(rows, row, tally);
    }
    if (rows.count() < rows_at_once) {
      POSTRIDER_CHECK(session.run_once("CLOSE tallies"));
      return {};
    }
  }
}

/// Sets sums below zero to zero. A delivery is subtracted from the row of the node that saw it
/// leave its state; if retention has removed the row that counted it, the sum is negative.
DeliveryTally without_negative_counts(DeliveryTally tally) {
  for (std::uint64_t* count : {&tally.now_succeeded, &tally.now_dead_letter}) {
    if (static_cast<std::int64_t>(*count) < 0) {
      *count = 0;
    }
  }
  return tally;
}

WallTime bucket_of(std::int64_t span, Millis bucket) {
  const Millis start = stats_span_start(span).time_since_epoch();
  const Millis past = (start % bucket + bucket) % bucket;
  return WallTime{start - past};
}

Result<std::vector<SpanTally>> read_over_time(Session& session, const StatsFilter& filter,
                                              Millis bucket) {
  const Terms terms = to_terms(filter);
  std::map<WallTime, DeliveryTally> sums;
  POSTRIDER_CHECK(for_each_tally(
      session, filter.webhook_id ? select_webhooks(terms, "span") : select_tenants(terms),
      [&](const Rows& rows, int row, const DeliveryTally& tally) {
        sums[bucket_of(rows.integer(row, 0), bucket)].add(tally);
      }));
  std::vector<SpanTally> buckets;
  for (const auto& [start, sum] : sums) {
    if (DeliveryTally tally = without_negative_counts(sum); !tally.empty()) {
      buckets.push_back({start, std::move(tally)});
    }
  }
  return buckets;
}

Result<std::vector<WebhookTally>> read_by_webhook(Session& session, const StatsFilter& filter) {
  std::map<WebhookId, DeliveryTally> sums;
  POSTRIDER_CHECK(for_each_tally(session, select_webhooks(to_terms(filter), "webhook_id"),
                                 [&](const Rows& rows, int row, const DeliveryTally& tally) {
                                   sums[rows.id<WebhookId>(row, 0)].add(tally);
                                 }));
  std::vector<WebhookTally> webhooks;
  for (const auto& [id, sum] : sums) {
    if (DeliveryTally tally = without_negative_counts(sum); !tally.empty()) {
      webhooks.push_back({id, std::move(tally)});
    }
  }
  sort_by_volume(webhooks);
  return webhooks;
}

class PostgresStats final : public Stats {
 public:
  explicit PostgresStats(std::shared_ptr<ReadConnection> connection)
      : connection_(std::move(connection)) {}

  Result<std::vector<SpanTally>> over_time(const StatsFilter& filter, Millis bucket) override {
    return connection_->read(
        [&](Session& session) { return read_over_time(session, filter, bucket); });
  }

  Result<std::vector<WebhookTally>> by_webhook(const StatsFilter& filter) override {
    return connection_->read([&](Session& session) { return read_by_webhook(session, filter); });
  }

 private:
  std::shared_ptr<ReadConnection> connection_;
};

}  // namespace

std::unique_ptr<Stats> make_stats(std::shared_ptr<ReadConnection> connection) {
  return std::make_unique<PostgresStats>(std::move(connection));
}

}  // namespace postrider::postgres
