// The answer to a publish request.
#pragma once

#include <cstddef>

#include "core/model/event.h"
#include "ports/ledger.h"

#include "api/json/json_writer.h"
#include "api/resources/context.h"

namespace postrider::api {

/// An event that was handed to the store.
struct SubmittedEvent {
  EventId id;
  bool key_derived = false;  // The server derived its idempotency key.
};

/// 202 for a new event. For a repeated idempotency key: 200 with the first answer if all deliveries
/// are finished, 409 `duplicate_event` if not, 422 `idempotency_key_reused` if the body differs.
[[nodiscard]] Reply answer_publish(const SubmittedEvent& event, const PublishReceipt& receipt);

/// Writes the same as one item of a batch's results, with its index and status.
void write_result(JsonWriter& writer, std::size_t index, const SubmittedEvent& event,
                  const PublishReceipt& receipt);

}  // namespace postrider::api
