// Writes deliveries and attempts as JSON.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/attempt.h"
#include "core/model/webhook.h"
#include "core/policy/blocked_times.h"
#include "engine/intake/directory.h"
#include "engine/shard/shard_view.h"
#include "ports/history.h"

#include "api/json/json_writer.h"
#include "api/resources/context.h"

namespace postrider::api {

/// The stored state, or `in_flight` if the lane is sending the delivery now.
[[nodiscard]] std::string_view shown_status(const Delivery& delivery, const LaneViews& lanes);

/// True if the delivery waits because its webhook's circuit is open.
[[nodiscard]] bool is_blocked_by_circuit(const Delivery& delivery, const LaneViews& lanes);

/// Writes a delivery without its attempts. Leaves the object open for further members.
void open_delivery(JsonWriter& writer, const DeliveryRecord& record, const LaneViews& lanes);
/// Writes members of the delivery's webhook; null if it is not one of `webhooks`.
void write_receiver(JsonWriter& writer, const Delivery& delivery, const Directory& webhooks);
/// Both of the above, as a closed object.
void write_delivery(JsonWriter& writer, const DeliveryRecord& record, const LaneViews& lanes,
                    const Directory& webhooks);

/// Writes what kept the delivery waiting, from when until when, as an array.
void write_blocked_times(JsonWriter& writer, const std::vector<BlockedTime>& times, WallTime now);

/// Writes an attempt without its request. Leaves the object open for further members.
void open_attempt(JsonWriter& writer, const Attempt& attempt);
/// Like open_attempt(), but closes the object.
void write_attempt(JsonWriter& writer, const Attempt& attempt);

/// Writes headers as an object. Values of the same name are joined with commas.
void write_joined_headers(JsonWriter& writer, const Headers& headers);

}  // namespace postrider::api
