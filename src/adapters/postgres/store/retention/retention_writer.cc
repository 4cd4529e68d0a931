#include "adapters/postgres/store/retention/retention_writer.h"

#include <utility>

#include "ports/stats.h"

#include "adapters/postgres/store/database/partitions.h"
#include "adapters/postgres/store/retention/months.h"
#include "adapters/postgres/store/retention/removal.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view forget_webhook_sql = R"sql(
  DELETE FROM removed_webhook WHERE webhook_id = $1
     AND NOT EXISTS (SELECT FROM waiting WHERE webhook_id = $1)
     AND NOT EXISTS (SELECT FROM delivery WHERE webhook_id = $1)
)sql";

// Several nodes may do this at the same time: each takes other rows.
constexpr std::string_view delete_webhook_stats_sql = R"sql(
  DELETE FROM webhook_stats WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM webhook_stats WHERE span < $1 ORDER BY span LIMIT $2 FOR UPDATE SKIP LOCKED))
)sql";

constexpr std::string_view delete_tenant_stats_sql = R"sql(
  DELETE FROM tenant_stats WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM tenant_stats WHERE span < $1 ORDER BY span LIMIT $2 FOR UPDATE SKIP LOCKED))
)sql";

constexpr std::string_view delete_open_periods_sql = R"sql(
  DELETE FROM circuit_period WHERE (webhook_id, opened_at) IN
    (SELECT webhook_id, opened_at FROM circuit_period WHERE ended_at < $1
     UNION ALL
     SELECT webhook_id, opened_at FROM circuit_period p
      WHERE ended_at IS NULL AND opened_at < $1
        AND NOT EXISTS (SELECT FROM webhook w WHERE w.id = p.webhook_id)
     LIMIT $2)
)sql";

constexpr std::string_view now_sql =
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

class PostgresRetentionWriter final : public RetentionWriter {
 public:
  explicit PostgresRetentionWriter(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<std::optional<Removed>> remove_month(const RetentionCutoffs& cutoffs) override {
    return remove_expired_month(*writer_, cutoffs);
  }

  Result<Removed> remove(const std::vector<ExpiredKey>& keys,
                         const RetentionCutoffs& cutoffs) override {
    return remove_expired(*writer_, keys, cutoffs);
  }

  Result<bool> forget_webhook(WebhookId id) override {
    return run(forget_webhook_sql, Parameters::of(id)).map([](std::uint64_t count) {
      return count > 0;
    });
  }

  Result<std::uint64_t> remove_stats(WallTime before, std::uint32_t limit) override {
    return writer_->transact_repeatedly([&]() -> Result<std::uint64_t> {
      std::uint64_t count = 0;
      for (const std::string_view sql : {delete_webhook_stats_sql, delete_tenant_stats_sql}) {
        POSTRIDER_TRY(const Rows rows,
                      writer_->session().run(sql, Parameters::of(stats_span_of(before), limit)));
        count += static_cast<std::uint64_t>(rows.affected());
      }
      return count;
    });
  }

  Result<std::uint64_t> remove_open_periods(WallTime before, std::uint32_t limit) override {
    return run(delete_open_periods_sql, Parameters::of(before, limit));
  }

  /// Also makes the partitions of the coming months, because this runs at least every hour.
  Result<bool> release_space() override {
    POSTRIDER_TRY(const WallTime now, writer_->transact([&]() -> Result<WallTime> {
      POSTRIDER_TRY(const Rows rows, writer_->session().run(now_sql));
      return rows.time(0, 0);
    }));
    POSTRIDER_CHECK(ensure_partitions(writer_->session(), now));
    return drop_unused_partition(*writer_);
  }

 private:
  /// Returns the number of rows removed.
  Result<std::uint64_t> run(std::string_view sql, const Parameters& parameters) {
    return writer_->transact_repeatedly([&]() -> Result<std::uint64_t> {
      POSTRIDER_TRY(const Rows rows, writer_->session().run(sql, parameters));
      return static_cast<std::uint64_t>(rows.affected());
    });
  }

  std::shared_ptr<Writer> writer_;
};

}  // namespace

std::unique_ptr<RetentionWriter> make_retention_writer(std::shared_ptr<Writer> writer) {
  return std::make_unique<PostgresRetentionWriter>(std::move(writer));
}

}  // namespace postrider::postgres
