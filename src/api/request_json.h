// The requests of attempts as JSON: what was sent, without credentials.
#pragma once

#include <optional>
#include <string>

#include "core/attempt.h"
#include "core/event.h"
#include "core/ids.h"
#include "core/request_shape.h"
#include "core/sent_request.h"

#include "api/json_writer.h"

namespace postrider::api {

/// What a request is told again from. Null: it is not known.
struct RequestSource {
  const RequestShape* shape = nullptr;
  const Event* event = nullptr;
  DeliveryId delivery_id;
};

/// nullopt when there was nothing to send, or when it is not known any more.
[[nodiscard]] std::optional<SentRequest> request_of(const Attempt& attempt,
                                                    const RequestSource& source);

/// The body is left out when it is `told_body`, which may be null.
void write_request(JsonWriter& writer, const std::optional<SentRequest>& request,
                   const std::string* told_body);

}  // namespace postrider::api
