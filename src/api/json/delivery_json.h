// Writes deliveries and attempts as JSON.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/attempt.h"
#include "core/model/webhook.h"
#include "engine/shard/shard_view.h"
#include "ports/history.h"

#include "api/json/json_writer.h"
#include "api/resources/context.h"

namespace postrider::api {

/// The current state of the lanes of some webhooks.
using LaneViews = std::map<WebhookId, LaneView>;

/// The stored state, or `in_flight` if the lane is sending the delivery now.
[[nodiscard]] std::string_view shown_status(const Delivery& delivery, const LaneViews& lanes);

/// Writes a delivery without its attempts. Leaves the object open for further members.
void open_delivery(JsonWriter& writer, const DeliveryRecord& record, const LaneViews& lanes);
/// Like open_delivery(), but closes the object.
void write_delivery(JsonWriter& writer, const DeliveryRecord& record, const LaneViews& lanes);

/// Writes an attempt without its request. Leaves the object open for further members.
void open_attempt(JsonWriter& writer, const Attempt& attempt);
/// Like open_attempt(), but closes the object.
void write_attempt(JsonWriter& writer, const Attempt& attempt);

/// Writes headers as an object. Values of the same name are joined with commas.
void write_joined_headers(JsonWriter& writer, const Headers& headers);

}  // namespace postrider::api
