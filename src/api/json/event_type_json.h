// Reads and writes an entry of the event type catalog as JSON.
#pragma once

#include <vector>

#include "core/json/json_text.h"

#include "api/json/json_writer.h"
#include "api/resources/context.h"
#include "runtime/store/event_type_catalog.h"

namespace postrider::api {

/// The entry that a body is merged into. Absent fields keep their value, null resets a field.
struct EventTypeMerge {
  EventTypeRef current;  // Null to create an entry; the body must then contain its name.
  // Result of an earlier merge of the same body. Its compiled schema and the check of its example
  // are reused.
  EventTypeRef trial;
  const MakeSchemaCheck& make_check;
  WallTime now;
};

/// Fails with a 422 if a field is invalid, the schema cannot be compiled or the example does not
/// match it.
[[nodiscard]] Parsed<EventTypeRef> merge_event_type(std::vector<JsonMember> members,
                                                    const EventTypeMerge& merge);

void write_event_type(JsonWriter& writer, const EventType& type);

/// The field of a schema error in the value at `path`, for example `data.items[2]`.
[[nodiscard]] std::string fault_field(std::string_view path, const SchemaFault& fault);

}  // namespace postrider::api
