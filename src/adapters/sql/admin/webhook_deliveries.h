// What the catalogue of webhooks changes in the tables of deliveries, whose form depends on the
// database. Called within a transaction.
#pragma once

#include <cstdint>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/tenant_counts.h"

namespace postrider::sql {

class WebhookDeliveries {
 public:
  virtual ~WebhookDeliveries() = default;

  /// See Catalog::cancel_waiting. Counts the outcomes in their operations (operation_row.h).
  [[nodiscard]] virtual Result<TenantCounts> cancel_waiting(WebhookId id, WallTime now,
                                                            std::uint32_t limit) = 0;
  /// Retires the request shapes of a webhook that is removed in this transaction
  /// (request_shape_rows.h).
  [[nodiscard]] virtual Result<void> retire_shapes(WebhookId id) = 0;

 protected:
  WebhookDeliveries() = default;
  WebhookDeliveries(const WebhookDeliveries&) = default;
  WebhookDeliveries& operator=(const WebhookDeliveries&) = default;
};

}  // namespace postrider::sql
