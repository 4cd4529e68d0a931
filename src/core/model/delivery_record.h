// A delivery with everything that lists and archives show of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/model/delivery.h"
#include "core/model/event.h"

namespace postrider {

/// What lists show of the latest attempt, besides the fields of the delivery's own row.
struct LastAttempt {
  WallTime executed_at;
  Micros duration{0};
  std::string error_message;  // As in Outcome.

  bool operator==(const LastAttempt&) const = default;
};

struct DeliveryRecord {
  Delivery delivery;
  TenantId tenant_id;
  WallTime created_at;
  WallTime updated_at;
  std::optional<WallTime> completed_at;  // When it became final.
  std::optional<DeadReason> dead;
  std::optional<FailureCategory> last_failure;    // Of the latest attempt; none if it succeeded.
  std::optional<std::uint16_t> last_http_status;  // Of the latest attempt.
  std::optional<LastAttempt> last_attempt = std::nullopt;

  bool operator==(const DeliveryRecord&) const = default;
};

/// An event, and its delivery to one webhook if there is one.
struct EventForWebhook {
  std::int64_t sequence = 0;
  Event event;
  std::optional<DeliveryRecord> delivery;

  bool operator==(const EventForWebhook&) const = default;
};

}  // namespace postrider
