// Turns a message of a source into the JSON of an event, as POST /v1/events accepts it. Pure.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/event.h"
#include "core/model/trace.h"
#include "core/source/source_record.h"

namespace postrider {

/// What fields of a message can be mapped to.
constexpr std::array<std::string_view, 12> mapped_members = {
    "type",     "data",      "tenant_id",    "resource_id", "idempotency_key", "source",
    "priority", "timestamp", "ordering_key", "metadata",    "traceparent",     "tracestate"};

/// The members of an event that a message can set, in the order in which they are written. The two
/// others are headers of a request.
constexpr std::span<const std::string_view> event_members = std::span{mapped_members}.first(10);

struct FieldMapping {
  /// From a member of the event to the fields that can contain it. The first field that the message
  /// has, and that is not empty, is used; without one, the member is not set. A field can be listed
  /// for several members.
  std::map<std::string, std::vector<std::string>, std::less<>> fields;
  std::string default_type;  // Of messages without a type. Empty: they are rejected.
  TenantId tenant_id;        // Of messages without a tenant.
  std::string key_prefix;    // Prepended to idempotency keys, so that two sources do not collide.

  bool operator==(const FieldMapping&) const = default;
};

/// Fails with invalid, with a sentence, if the message has a problem or no data, if `data` or
/// `metadata` is not JSON, or if a text is not UTF-8. Everything else is checked as for any other
/// event. Numbers become text where the event requires text.
[[nodiscard]] Result<std::string> event_json(const SourceRecord& record,
                                             const FieldMapping& mapping);

/// The trace context of a message. nullopt if it has none or an invalid one, which is ignored.
[[nodiscard]] std::optional<TraceContext> trace_of(const SourceRecord& record,
                                                   const FieldMapping& mapping);

}  // namespace postrider
