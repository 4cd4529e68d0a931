// The HTTP requests of attempts as JSON, without credentials.
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

/// The stored data from which a request is reconstructed. A null pointer means that it is not
/// stored any more.
struct RequestSource {
  const RequestShape* shape = nullptr;
  const Event* event = nullptr;
  DeliveryId delivery_id;
};

/// The request of an attempt. Returns nullopt if nothing was sent or the data is not stored any
/// more.
[[nodiscard]] std::optional<SentRequest> request_of(const Attempt& attempt,
                                                    const RequestSource& source);

/// Writes the request, or null. Omits a body that equals `*known_body`, which the response contains
/// already; `known_body` may be null.
void write_request(JsonWriter& writer, const std::optional<SentRequest>& request,
                   const std::string* known_body);

}  // namespace postrider::api
