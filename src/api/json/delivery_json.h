// Deliveries and attempts as JSON.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/attempt.h"
#include "core/model/webhook.h"
#include "engine/shard/shard.h"
#include "ports/history.h"

#include "api/json/json_writer.h"
#include "api/resources/context.h"

namespace postrider::api {

/// What the lanes are doing now, for the webhooks that are of interest.
using LaneViews = std::map<WebhookId, LaneView>;

/// The stored state, or `in_flight` when the lane is sending it now.
[[nodiscard]] std::string_view shown_status(const Delivery& delivery, const LaneViews& lanes);

/// Everything known about a delivery but its attempts. The object stays open for what else is to be
/// said.
void open_delivery(JsonWriter& writer, const DeliveryRecord& record, const LaneViews& lanes);
/// The same, closed.
void write_delivery(JsonWriter& writer, const DeliveryRecord& record, const LaneViews& lanes);

/// Everything that was seen of an attempt. The object stays open for what else is to be said.
void open_attempt(JsonWriter& writer, const Attempt& attempt);
/// The same, closed.
void write_attempt(JsonWriter& writer, const Attempt& attempt);

/// Headers by name; several of one name are joined by commas.
void write_foreign_headers(JsonWriter& writer, const Headers& headers);

}  // namespace postrider::api
