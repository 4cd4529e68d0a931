#include "adapters/sqlite/admin/webhook_deliveries.h"

#include <utility>

#include "adapters/sql/admin/operation_row.h"
#include "adapters/sql/admin/request_shape_rows.h"
#include "adapters/sql/state_sql.h"

namespace postrider::sqlite {
namespace {

constexpr auto cancel_waiting_sql = sql::with_states(R"sql(
  UPDATE delivery SET state = {cancelled}, updated_at = ?2, completed_at = ?2
   WHERE sequence IN (SELECT sequence FROM delivery INDEXED BY delivery_due
                       WHERE lane = ?1 AND state <= {last_waiting} LIMIT ?3)
  RETURNING priority, operation, tenant
)sql");

class SqliteWebhookDeliveries final : public sql::WebhookDeliveries {
 public:
  explicit SqliteWebhookDeliveries(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<TenantCounts> cancel_waiting(WebhookId id, WallTime now, std::uint32_t limit) override {
    TenantCounts cancelled;
    POSTRIDER_TRY(const LaneEntry* lane, writer_->session().lanes.find(id));
    if (lane == nullptr) {
      return cancelled;
    }
    POSTRIDER_TRY(Statement cancel, writer_->database().prepare(cancel_waiting_sql));
    OutcomeChanges outcomes;
    Query query = cancel.query(lane->lane, now, limit);
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        break;
      }
      POSTRIDER_TRY(const std::string* tenant_id,
                    writer_->session().tenants.name_of(query.integer(2)));
      ++cancelled[*tenant_id][query.as<Priority>(0)];
      if (!query.is_null(1)) {
        outcomes[query.id<OperationId>(1)].add(DeliveryState::cancelled, now);
      }
    }
    POSTRIDER_CHECK(sql::add_to_operations(writer_->database(), outcomes));
    return cancelled;
  }

  Result<void> retire_shapes(WebhookId id) override {
    POSTRIDER_CHECK(sql::retire_shapes(writer_->database(), id, writer_->session().next_sequence));
    POSTRIDER_TRY(LaneEntry * lane, writer_->session().lanes.find(id));
    if (lane != nullptr) {
      lane->shape = nullptr;  // It was retired.
    }
    return {};
  }

 private:
  std::shared_ptr<Writer> writer_;
};

}  // namespace

std::unique_ptr<sql::WebhookDeliveries> make_webhook_deliveries(std::shared_ptr<Writer> writer) {
  return std::make_unique<SqliteWebhookDeliveries>(std::move(writer));
}

}  // namespace postrider::sqlite
