#include "core/request/payload_format.h"

#include <array>
#include <charconv>

#include "core/base/assert.h"
#include "core/base/enum_names.h"
#include "core/json/json_rewrite.h"
#include "core/json/json_string.h"

namespace postrider {
namespace {

constexpr std::array<std::string_view, 6> names = {"standard",  "exchange", "platform",
                                                   "workspace", "tenant",   "raw"};

constexpr EnumNames<PayloadForm, PayloadForm::sorted> form_names{{"verbatim", "compact", "sorted"}};

// The most that an envelope adds to the event's texts: field names, ids, times.
constexpr std::size_t envelope_bytes = 256;

void append_number(std::string& out, std::int64_t number) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_time(std::string& out, WallTime time) {
  out += '"';
  out += to_rfc3339(time);
  out += '"';
}

void append_id(std::string& out, EventId id) {
  out += '"';
  out += EventKind::prefix;
  out += to_base32(id.bytes);
  out += '"';
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out += ",\"";
  out += name;
  out += "\":";
  append_json_string(out, text);
}

void append_standard(std::string& out, const Event& event) {
  out += R"({"id":)";
  append_id(out, event.id);
  append_member(out, "type", event.type);
  out += R"(,"timestamp":)";
  append_time(out, event.timestamp);
  out += R"(,"data":)";
  out += event.data;
  out += '}';
}

void append_exchange(std::string& out, const Event& event) {
  out += R"({"id":)";
  append_id(out, event.id);
  append_member(out, "type", event.type);
  out += R"(,"created_at":)";
  append_number(out, to_unix_seconds(event.timestamp));
  out += R"(,"data":)";
  out += event.data;
  out += '}';
}

void append_platform(std::string& out, const Event& event) {
  out += R"({"id":)";
  append_id(out, event.id);
  append_member(out, "event_type", event.type);
  out += R"(,"data":)";
  out += event.data;
  out += R"(,"timestamp":)";
  append_time(out, event.timestamp);
  append_member(out, "idempotency_key", event.idempotency_key);
  if (event.source) {
    append_member(out, "source", *event.source);
  } else {
    out += R"(,"source":null)";
  }
  append_member(out, "priority", to_string(event.priority));
  if (event.sequence > 0) {  // A verification challenge has no sequence number.
    out += R"(,"sequence_number":)";
    append_number(out, event.sequence);
  }
  if (!event.tenant_id.empty()) {
    append_member(out, "tenant_id", event.tenant_id);
  }
  if (event.resource_id) {
    append_member(out, "resource_id", *event.resource_id);
  }
  if (event.ordering_key) {
    append_member(out, "ordering_key", *event.ordering_key);
  }
  if (event.metadata != "{}") {
    out += R"(,"metadata":)";
    out += event.metadata;
  }
  out += '}';
}

void append_workspace(std::string& out, const Event& event) {
  out += R"({"event_type":)";
  append_json_string(out, event.type);
  out += R"(,"data":)";
  out += event.data;
  out += '}';
}

void append_tenant(std::string& out, const Event& event, const AttemptStamp& stamp) {
  out += R"({"id":")";
  out += DeliveryKind::prefix;
  out += to_base32(stamp.delivery_id.bytes);
  out += '"';
  append_member(out, "event", event.type);
  out += R"(,"data":)";
  out += event.data;
  out += R"(,"timestamp":)";
  append_time(out, stamp.now);
  out += '}';
}

std::string render_verbatim(PayloadFormat format, const Event& event, const AttemptStamp& stamp) {
  std::string body;
  if (format == PayloadFormat::raw) {
    body = event.data;
    return body;
  }
  body.reserve(event.data.size() + event.type.size() + event.idempotency_key.size() +
               envelope_bytes);
  switch (format) {
    case PayloadFormat::standard:
      append_standard(body, event);
      break;
    case PayloadFormat::exchange:
      append_exchange(body, event);
      break;
    case PayloadFormat::platform:
      append_platform(body, event);
      break;
    case PayloadFormat::workspace:
      append_workspace(body, event);
      break;
    case PayloadFormat::tenant:
      append_tenant(body, event, stamp);
      break;
    case PayloadFormat::raw:
      break;
  }
  POSTRIDER_ASSERT(!body.empty());
  return body;
}

}  // namespace

std::string_view to_string(PayloadFormat format) {
  const auto index = static_cast<std::size_t>(format);
  POSTRIDER_ASSERT(index < names.size());
  return names[index];
}

std::optional<PayloadFormat> parse_payload_format(std::string_view text) {
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (names[index] == text) {
      return static_cast<PayloadFormat>(index);
    }
  }
  return std::nullopt;
}

std::string_view to_string(PayloadForm form) { return form_names.name(form); }

std::optional<PayloadForm> parse_payload_form(std::string_view text) {
  return form_names.find(text);
}

std::string render_body(BodyStyle style, const Event& event, const AttemptStamp& stamp) {
  std::string body = render_verbatim(style.format, event, stamp);
  switch (style.form) {
    case PayloadForm::verbatim:
      break;
    case PayloadForm::compact:
      return rewrite_json(body, JsonWriterStyle::javascript);
    case PayloadForm::sorted:
      return rewrite_json(body, JsonWriterStyle::python);
  }
  return body;
}

}  // namespace postrider
