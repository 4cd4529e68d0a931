// What a publisher is told.
#pragma once

#include <cstddef>

#include "core/model/event.h"
#include "ports/ledger.h"

#include "api/http/http.h"
#include "api/json/json_writer.h"

namespace postrider::api {

/// An event that was handed to the store.
struct AskedEvent {
  EventId id;
  bool key_derived = false;  // Its publisher does not know its idempotency key.
};

/// 202 for a new event. For a repeat of its idempotency key: 200 with the first answer when all is
/// delivered, 409 `duplicate_event` while it is not, 422 `idempotency_key_reused` with another
/// body.
[[nodiscard]] HttpResponse answer_publish(const AskedEvent& asked, const PublishReceipt& receipt);

/// The same as one item of a batch's results, with its index and its status as a number.
void write_result(JsonWriter& writer, std::size_t index, const AskedEvent& asked,
                  const PublishReceipt& receipt);

}  // namespace postrider::api
