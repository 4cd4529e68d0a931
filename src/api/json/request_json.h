// The requests of attempts as JSON: what was sent, without credentials.
#pragma once

#include <optional>
#include <string>

#include "core/base/ids.h"
#include "core/model/attempt.h"
#include "core/model/event.h"
#include "core/request/request_shape.h"
#include "core/request/sent_request.h"

#include "api/json/json_writer.h"

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
