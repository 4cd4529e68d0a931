// An event as JSON. Reading is on the publish path: one scan of the text, no tree, data as a slice.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json_text.h"
#include "core/model/event.h"

#include "api/json/field_reader.h"
#include "api/json/json_writer.h"
#include "api/resources/context.h"
#include "runtime/admin/service.h"

namespace postrider::api {

constexpr std::size_t idempotency_key_bytes_max = 256;

/// What comes with an event from outside its JSON.
struct EventArrival {
  std::string_view text;           // The event's JSON, for the digest.
  std::string path;                // `events[3]`; empty for a body of its own.
  std::optional<std::string> key;  // From the Idempotency-Key header.
  EventId id;
  WallTime now;
  std::optional<TenantId> tenant_id = std::nullopt;  // Of a caller who has one: the event's, too.
};

/// Reads one event. Its idempotency key is the caller's, which is then claimed, or one is made.
/// 413 when the data is too large, 422 for anything else that is wrong.
[[nodiscard]] Parsed<EventDraft> read_event(std::vector<JsonMember> members,
                                            const EventArrival& arrival, const ApiOptions& options);

/// Was its idempotency key made from what it is about, because it brought none?
[[nodiscard]] bool has_derived_key(const Event& event, const ApiOptions& options);

/// The Idempotency-Key header, checked.
[[nodiscard]] Parsed<std::optional<std::string>> read_key_header(const HttpRequest& request);

/// Everything but its data. The object stays open for what else is to be said.
void open_event(JsonWriter& writer, const Event& event);

/// A random-looking UUIDv4 that is unique as `id` is.
[[nodiscard]] std::string made_key(const EventId& id);

}  // namespace postrider::api
