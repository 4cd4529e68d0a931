// The request body: different envelopes around the event's data, and how they are serialised.
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

/// How the body is serialised. `verbatim`: the event's data keeps its bytes. `compact` and
/// `sorted`: the bytes that a receiver gets when it parses the body and serialises it again, with
/// JSON.stringify in JavaScript or json.dumps(…, sort_keys=True) in Python.
enum class PayloadForm : std::uint8_t { verbatim, compact, sorted };

[[nodiscard]] std::string_view to_string(PayloadForm form);
[[nodiscard]] std::optional<PayloadForm> parse_payload_form(std::string_view text);

/// One attempt of a delivery.
struct AttemptStamp {
  DeliveryId delivery_id;
  std::uint32_t attempt_number = 1;
  WallTime now;
};

struct BodyStyle {
  PayloadFormat format = PayloadFormat::standard;
  PayloadForm form = PayloadForm::verbatim;

  bool operator==(const BodyStyle&) const = default;
};

/// Only the `tenant` envelope depends on the attempt: it contains the delivery's id and the time of
/// the attempt. The others are the same for all webhooks.
[[nodiscard]] std::string render_body(BodyStyle style, const Event& event,
                                      const AttemptStamp& stamp);

}  // namespace postrider
