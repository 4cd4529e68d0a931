// The formats of a request body: different envelopes around the event's verbatim data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/model/event.h"

namespace postrider {

enum class PayloadFormat : std::uint8_t { standard, exchange, platform, workspace, tenant, raw };

[[nodiscard]] std::string_view to_string(PayloadFormat format);
[[nodiscard]] std::optional<PayloadFormat> parse_payload_format(std::string_view text);

/// Only the `tenant` envelope contains the delivery id; the others are the same for all webhooks.
[[nodiscard]] std::string render_body(PayloadFormat format, const Event& event,
                                      DeliveryId delivery_id);

/// Appends `text` as a JSON string with quotes. `text` must be valid UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace postrider
