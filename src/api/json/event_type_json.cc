#include "api/json/event_type_json.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/filter/event_pattern.h"
#include "core/model/event.h"

#include "api/json/field_reader.h"

namespace postrider::api {
namespace {

constexpr TextRule name_rule{.bytes_max = event_type_length_max, .multiline = false};
constexpr TextRule description_rule{.bytes_max = 4096, .multiline = true};
constexpr std::size_t schema_bytes_max = std::size_t{64} * 1024;
constexpr std::size_t example_bytes_max = std::size_t{32} * 1024;

void read_name(ObjectReader& reader, bool creating, EventType& type) {
  const JsonField<std::string> name = reader.text("name", name_rule);
  if (!creating) {
    if (name.present && name.value != type.name) {
      reader.refuse("name", "cannot be changed. Create another event type.");
    }
    return;
  }
  if (!name.value || !is_event_type(*name.value)) {
    reader.refuse("name",
                  fmt::format("{}must be 1 to {} letters, digits, `_`, `-` and single dots, "
                              "such as order.created.",
                              name.value ? "" : "is required and ", event_type_length_max));
    return;
  }
  if (is_reserved_type(*name.value)) {
    reader.refuse("name", "must not begin with `postrider.`, which is reserved.");
    return;
  }
  type.name = *name.value;
}

void read_example(ObjectReader& reader, EventType& type) {
  const std::optional<std::string_view> example = reader.raw("example");
  if (!example) {
    return;
  }
  if (example->size() > example_bytes_max) {
    reader.refuse("example", fmt::format("must have at most {} bytes.", example_bytes_max));
    return;
  }
  type.example = *example == "null" ? std::nullopt : std::optional{std::string{*example}};
}

/// Returns whether the body contains a schema.
bool read_fields(ObjectReader& reader, bool creating, EventType& type) {
  read_name(reader, creating, type);
  assign(reader.text("description", description_rule), type.description);
  const JsonField<std::string> schema = reader.verbatim_object("schema", schema_bytes_max);
  assign(schema, type.schema);
  read_example(reader, type);
  assign(reader.boolean("validate"), type.validate, true);
  assign(reader.boolean("archived"), type.archived, false);
  for (const std::string_view name : {"system", "created_at", "updated_at"}) {
    if (reader.raw(name)) {
      reader.refuse(name, "is set by the server. Omit it.");
    }
  }
  reader.finish();
  return schema.value.has_value();
}

Result<SchemaCheckRef> check_of(const std::string& schema, const EventTypeMerge& merge) {
  for (const EventTypeRef& known : {merge.trial, merge.current}) {
    if (known && known->check && known->type.schema == schema) {
      return known->check;
    }
  }
  if (!merge.make_check) {
    return fail(Errc::invalid, "This server does not check schemas.");
  }
  return merge.make_check(schema);
}

void compile_schema(KnownEventType& known, const EventTypeMerge& merge, FieldErrors& errors) {
  Result<SchemaCheckRef> check = check_of(*known.type.schema, merge);
  if (check) {
    known.check = *std::move(check);
  } else {
    errors.add("schema", "cannot be used: " + check.error().message);
  }
}

void check_example(const KnownEventType& known, const EventTypeRef& trial, FieldErrors& errors) {
  if (!known.check || !known.type.example) {
    return;
  }
  if (trial && trial->check == known.check && trial->type.example == known.type.example) {
    return;
  }
  StepBudget budget;
  const SchemaVerdict verdict = known.check->check(*known.type.example, budget);
  if (verdict.out_of_steps) {
    errors.add("example", "takes too long to check with the schema. Simplify one of them.");
  }
  for (const SchemaFault& fault : verdict.faults) {
    errors.add(fault_field("example", fault), fault.message);
  }
}

}  // namespace

std::string fault_field(std::string_view path, const SchemaFault& fault) {
  const bool joined = fault.path.empty() || fault.path.starts_with('[');
  return fmt::format("{}{}{}", path, joined ? "" : ".", fault.path);
}

Parsed<EventTypeRef> merge_event_type(std::vector<JsonMember> members,
                                      const EventTypeMerge& merge) {
  KnownEventType known;
  if (merge.current) {
    known.type = merge.current->type;
  } else {
    known.type.created_at = merge.now;
  }
  known.type.updated_at = std::max(merge.now, known.type.updated_at);
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  const bool has_schema = read_fields(reader, merge.current == nullptr, known.type);
  if (merge.current && !merge.current->schema_fault.empty() && !has_schema) {
    // An unusable schema does not prevent other changes.
    known.schema_fault = known.type.schema ? merge.current->schema_fault : "";
  } else if (known.type.schema && errors.empty()) {
    compile_schema(known, merge, errors);
  }
  check_example(known, merge.trial, errors);
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return std::make_shared<const KnownEventType>(std::move(known));
}

void write_event_type(JsonWriter& writer, const EventType& type) {
  writer.open_object();
  writer.member("name", type.name);
  writer.member("description", type.description);
  writer.member_raw("schema", type.schema.value_or("null"));
  writer.member("validate", type.validate && type.schema.has_value());
  writer.member_raw("example", type.example.value_or("null"));
  writer.member("archived", type.archived);
  writer.member("system", is_reserved_type(type.name));
  writer.member("created_at", type.created_at);
  writer.member("updated_at", type.updated_at);
  writer.close_object();
}

}  // namespace postrider::api
