// Reads and writes an event as JSON. Reading is on the publish path, so it scans the text once and
// builds no tree.
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

/// The data of an arriving event that is not in its JSON members.
struct EventArrival {
  std::string_view text;           // The JSON of the event, for the digest.
  std::string path;                // For example `events[3]`; empty if the event is the whole body.
  std::optional<std::string> key;  // From the Idempotency-Key header.
  EventId id;
  WallTime now;
  std::optional<TenantId> tenant_id = std::nullopt;  // Of the API key, if it has one.
  std::optional<TraceContext> trace = std::nullopt;
};

/// Reads one event. If the request has an idempotency key, or one can be derived, the draft claims
/// it; otherwise the event gets a generated key without a claim. Fails with a 413 if the data is
/// too large, and with a 422 for any other error.
[[nodiscard]] Parsed<EventDraft> read_event(std::vector<JsonMember> members,
                                            const EventArrival& arrival, const ApiOptions& options);

/// True if the idempotency key of the event was derived from its resource, type and time.
[[nodiscard]] bool has_derived_key(const Event& event, const ApiOptions& options);

/// The checked Idempotency-Key header. The value is nullopt if the header is missing.
[[nodiscard]] Parsed<std::optional<std::string>> read_key_header(const HttpRequest& request);

/// The W3C trace context of a request. nullopt if it has none or an invalid one: that is no reason
/// to refuse an event.
[[nodiscard]] std::optional<TraceContext> read_trace_headers(const HttpRequest& request);

/// Writes all members except `data`. Leaves the object open for further members.
void open_event(JsonWriter& writer, const Event& event);

/// An idempotency key for an event that has none: a UUIDv4 computed from `id` and as unique as it.
[[nodiscard]] std::string generated_key(const EventId& id);

}  // namespace postrider::api
