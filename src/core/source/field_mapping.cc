#include "core/source/field_mapping.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/json/json_string.h"
#include "core/json/json_text.h"
#include "core/request/payload_format.h"
#include "core/trace/trace_header.h"

namespace postrider {
namespace {

/// Data can be any JSON value, also null and the empty text.
bool is_set(const SourceField& field, std::string_view member) {
  const bool is_nothing = field.is_json && (field.value == "null" || field.value == R"("")");
  return !field.value.empty() && (member == "data" || !is_nothing);
}

/// Returns nullptr if the message has no such field, or only empty ones.
const SourceField* find_field(const SourceRecord& record, const FieldMapping& mapping,
                              std::string_view member) {
  const auto names = mapping.fields.find(member);
  if (names == mapping.fields.end()) {
    return nullptr;
  }
  for (const std::string& name : names->second) {
    const auto found = std::ranges::find(record.fields, name, &SourceField::name);
    if (found != record.fields.end() && is_set(*found, member)) {
      return &*found;
    }
  }
  return nullptr;
}

tl::unexpected<Error> refuse(const SourceField& field, std::string_view problem) {
  return fail(Errc::invalid, fmt::format("The field `{}` {}.", field.name, problem));
}

bool is_number(std::string_view json) {
  return json.front() == '-' || (json.front() >= '0' && json.front() <= '9');
}

/// The text that a field contains.
Result<std::string> text_of(const SourceField& field) {
  if (!field.is_json) {
    return field.value;
  }
  if (std::optional<std::string> text = decode_json_string(field.value)) {
    return *std::move(text);
  }
  if (!check_json(field.value)) {
    return refuse(field, "is not JSON");
  }
  if (!is_number(field.value)) {
    return refuse(field, "must be a text or a number");
  }
  return field.value;
}

void append_name(std::string& json, std::string_view member) {
  json += json.size() > 1 ? ",\"" : "\"";
  json += member;
  json += "\":";
}

/// Fails if the text is not UTF-8.
Result<void> append_text(std::string& json, const SourceField& field, std::string_view text) {
  const std::size_t start = json.size();
  append_json_string(json, text);
  if (!scan_json_string(std::string_view{json}.substr(start + 1)).error.empty()) {
    return refuse(field, "is not valid UTF-8");
  }
  return {};
}

/// The value of a member whose field is missing in the message. Empty: not set.
std::string_view fallback(const FieldMapping& mapping, std::string_view member) {
  if (member == "type") {
    return mapping.default_type;
  }
  return member == "tenant_id" ? std::string_view{mapping.tenant_id} : std::string_view{};
}

Result<void> append_json(std::string& json, const SourceField& field) {
  const Result<void> checked = check_json(field.value);
  if (!checked) {
    return fail(Errc::invalid,
                fmt::format("The field `{}` is not JSON. {}", field.name, checked.error().message));
  }
  json += field.value;
  return {};
}

Result<void> append_field(std::string& json, const SourceField& field, std::string_view member,
                          const FieldMapping& mapping) {
  append_name(json, member);
  if (member == "data" || member == "metadata") {
    return append_json(json, field);
  }
  POSTRIDER_TRY(std::string text, text_of(field));
  return append_text(json, field,
                     member == "idempotency_key" ? mapping.key_prefix + text : std::move(text));
}

tl::unexpected<Error> no_data(const FieldMapping& mapping) {
  const auto names = mapping.fields.find("data");
  std::string expected;
  if (names != mapping.fields.end()) {
    for (const std::string& name : names->second) {
      expected += fmt::format("{}`{}`", expected.empty() ? "" : " or ", name);
    }
  }
  return fail(Errc::invalid,
              fmt::format("The message has no data. It is expected in the field {}.", expected));
}

}  // namespace

Result<std::string> event_json(const SourceRecord& record, const FieldMapping& mapping) {
  if (record.problem) {
    return fail(Errc::invalid, *record.problem);
  }
  std::string json = "{";
  for (const std::string_view member : event_members) {
    if (const SourceField* field = find_field(record, mapping, member)) {
      POSTRIDER_CHECK(append_field(json, *field, member, mapping));
    } else if (member == "data") {
      return no_data(mapping);
    } else if (const std::string_view text = fallback(mapping, member); !text.empty()) {
      append_name(json, member);
      append_json_string(json, text);
    }
  }
  json += '}';
  return json;
}

std::optional<TraceContext> trace_of(const SourceRecord& record, const FieldMapping& mapping) {
  const auto text = [&](std::string_view member) {
    const SourceField* field = find_field(record, mapping, member);
    return field ? text_of(*field).value_or("") : std::string{};
  };
  const std::string traceparent = text("traceparent");
  return traceparent.empty() ? std::nullopt : parse_trace(traceparent, text("tracestate"));
}

}  // namespace postrider
