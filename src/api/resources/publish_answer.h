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
  bool key_derived = false;         // The server derived its idempotency key.
  bool refuse_in_progress = false;  // See ApiOptions::refuse_in_progress.
};

[[nodiscard]] SubmittedEvent submitted_event(const Event& event, const ApiOptions& options);

/// 202 for a new event. For a repeated idempotency key: 200 with the first answer, whatever became
/// of its deliveries; 422 `idempotency_key_reused` if the body differs; 409 `duplicate_event` if
/// deliveries are not finished and `refuse_in_progress` is set.
[[nodiscard]] Reply answer_publish(const SubmittedEvent& event, const PublishReceipt& receipt);

/// Writes the same as one item of a batch's results, with its index and status.
void write_result(JsonWriter& writer, std::size_t index, const SubmittedEvent& event,
                  const PublishReceipt& receipt);

}  // namespace postrider::api
