// Writes counters of deliveries and attempts as JSON.
#pragma once

#include "core/model/delivery_tally.h"

#include "api/json/json_writer.h"

namespace postrider::api {

/// Writes members into an object that the caller opened.
void write_tally(JsonWriter& writer, const DeliveryTally& tally);

}  // namespace postrider::api
