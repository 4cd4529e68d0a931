// An entry of the event type catalogue as JSON.
#pragma once

#include <vector>

#include "core/json/json_text.h"

#include "api/json/json_writer.h"
#include "api/resources/context.h"
#include "runtime/store/event_type_catalog.h"

namespace postrider::api {

/// What a body is merged into. Absent leaves a field, null resets it.
struct EventTypeMerge {
  EventTypeRef current;  // Null: the body makes a new entry and must name it.
  EventTypeRef trial;  // From the same body a moment ago, so that its schema need not be compiled.
  const MakeSchemaCheck& make_check;
  WallTime now;
};

/// 422 when a field is wrong, the schema cannot be used or the example does not satisfy it.
[[nodiscard]] Parsed<EventTypeRef> merge_event_type(std::vector<JsonMember> members,
                                                    const EventTypeMerge& merge);

void write_event_type(JsonWriter& writer, const EventType& type);

/// Where a fault in data that stands at `path` is: `data.items[2]`.
[[nodiscard]] std::string fault_field(std::string_view path, const SchemaFault& fault);

}  // namespace postrider::api
