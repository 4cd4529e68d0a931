#include "adapters/postgres/store/ledger/webhook_deliveries.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/postgres/store/ledger/order_index.h"
#include "adapters/postgres/store/ledger/request_shapes.h"
#include "adapters/sql/admin/operation_row.h"
#include "adapters/sql/state_sql.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view page_sql =
    "SELECT id FROM waiting WHERE webhook_id = $1 ORDER BY sequence LIMIT $2";

// The ids $1 are sorted, so the rows are locked in their order, as settlements do.
constexpr auto cancel_sql = sql::with_states(R"sql(
  WITH page AS (SELECT d.id FROM (SELECT unnest($1::uuid[]) AS id) k JOIN waiting d ON d.id = k.id
                   FOR UPDATE OF d),
       gone AS (DELETE FROM waiting d USING page p WHERE d.id = p.id RETURNING d.*)
  INSERT INTO delivery (sequence, id, event_id, webhook_id, tenant_id, type, priority, state,
                        trigger, due, attempt_count, budget_used, revivals, created_at, updated_at,
                        completed_at, last_failure, last_http_status, late, operation, trace)
  SELECT sequence, id, event_id, webhook_id, tenant_id, type, priority, {cancelled}, trigger, due,
         attempt_count, budget_used, revivals, created_at, $2, $2, last_failure, last_http_status,
         late, operation, trace
    FROM gone
  RETURNING priority, operation, tenant_id
)sql");

class PostgresWebhookDeliveries final : public sql::WebhookDeliveries {
 public:
  explicit PostgresWebhookDeliveries(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<TenantCounts> cancel_waiting(WebhookId id, WallTime now, std::uint32_t limit) override {
    TenantCounts cancelled;
    OutcomeChanges outcomes;
    // Another transaction may have taken deliveries of a page meanwhile. Fewer than the limit must
    // mean that none is left.
    for (bool is_full = true; is_full && cancelled.total() < limit;) {
      const auto wanted = static_cast<std::uint32_t>(limit - cancelled.total());
      POSTRIDER_TRY(const std::vector<DeliveryId> page, read_page(id, wanted));
      if (page.empty()) {
        break;
      }
      is_full = page.size() == wanted;
      POSTRIDER_TRY(const Rows rows, cancel(page, now));
      for (int row = 0; row < rows.count(); ++row) {
        ++cancelled[rows.text(row, 2)][rows.as<Priority>(row, 0)];
        if (const auto operation = rows.id_or_null<OperationId>(row, 1)) {
          outcomes[*operation].add(DeliveryState::cancelled, now);
        }
      }
    }
    POSTRIDER_CHECK(sql::add_to_operations(writer_->database(), outcomes));
    return cancelled;
  }

  Result<void> retire_shapes(WebhookId id) override {
    queue_retirement(writer_->session(), id);
    queue_order_index_removal(writer_->session(), id);  // Nothing loads its lane any more.
    POSTRIDER_CHECK(writer_->session().exchange());
    return {};
  }

 private:
  /// The oldest ones, sorted by id.
  Result<std::vector<DeliveryId>> read_page(WebhookId id, std::uint32_t limit) {
    POSTRIDER_TRY(const Rows rows, writer_->session().run(page_sql, Parameters::of(id, limit)));
    std::vector<DeliveryId> page;
    page.reserve(static_cast<std::size_t>(rows.count()));
    for (int row = 0; row < rows.count(); ++row) {
      page.push_back(rows.id<DeliveryId>(row, 0));
    }
    std::ranges::sort(page);
    return page;
  }

  /// Returns the rows that still waited.
  Result<Rows> cancel(const std::vector<DeliveryId>& page, WallTime now) {
    Array ids{ElementType::uuid};
    for (const DeliveryId& id : page) {
      ids.add(id);
    }
    return writer_->session().run(cancel_sql, Parameters::of(std::move(ids), now));
  }

  std::shared_ptr<Writer> writer_;
};

}  // namespace

std::unique_ptr<sql::WebhookDeliveries> make_webhook_deliveries(std::shared_ptr<Writer> writer) {
  return std::make_unique<PostgresWebhookDeliveries>(std::move(writer));
}

}  // namespace postrider::postgres
