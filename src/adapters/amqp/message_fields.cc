#include "adapters/amqp/message_fields.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/letter_case.h"
#include "core/json/json_text.h"

#include "adapters/amqp/amqp_errors.h"
#include "adapters/amqp/header_json.h"

namespace postrider::amqp {
namespace {

struct TextProperty {
  amqp_flags_t flag;
  std::string_view name;
  amqp_bytes_t amqp_basic_properties_t::* value;
};

constexpr std::array<TextProperty, 6> text_properties{{
    {AMQP_BASIC_MESSAGE_ID_FLAG, "message_id", &amqp_basic_properties_t::message_id},
    {AMQP_BASIC_TYPE_FLAG, "type", &amqp_basic_properties_t::type},
    {AMQP_BASIC_APP_ID_FLAG, "app_id", &amqp_basic_properties_t::app_id},
    {AMQP_BASIC_CORRELATION_ID_FLAG, "correlation_id", &amqp_basic_properties_t::correlation_id},
    {AMQP_BASIC_USER_ID_FLAG, "user_id", &amqp_basic_properties_t::user_id},
    {AMQP_BASIC_CONTENT_TYPE_FLAG, "content_type", &amqp_basic_properties_t::content_type},
}};

/// Encodings that leave JSON as it is. Some publishers set the character set here.
constexpr std::array<std::string_view, 4> plain_encodings{"identity", "utf-8", "utf8", "us-ascii"};

bool has(const amqp_basic_properties_t& properties, amqp_flags_t flag) {
  return (properties._flags & flag) != 0;
}

bool is_plain(std::string_view encoding) {
  return encoding.empty() || std::ranges::any_of(plain_encodings, [&](std::string_view plain) {
           return equals_ignoring_case(encoding, plain);
         });
}

void add_text(std::vector<SourceField>& fields, std::string_view name, std::string_view value) {
  fields.push_back({.name = std::string{name}, .value = std::string{value}});
}

void add_json(std::vector<SourceField>& fields, std::string_view name, std::string value) {
  fields.push_back({.name = std::string{name}, .value = std::move(value), .is_json = true});
}

void add_header(std::vector<SourceField>& fields, const amqp_table_entry_t& header) {
  const std::string name = fmt::format("headers.{}", view(header.key));
  switch (header.value.kind) {
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES:
      add_text(fields, name, view(header.value.value.bytes));
      break;
    case AMQP_FIELD_KIND_TIMESTAMP:
      add_text(fields, name, time_text(header.value.value.u64));
      break;
    default: {
      std::string json;
      append_json(json, header.value);
      add_json(fields, name, std::move(json));
    }
  }
}

void add_headers(std::vector<SourceField>& fields, const amqp_table_t& headers) {
  for (int index = 0; index < headers.num_entries; ++index) {
    add_header(fields, headers.entries[index]);
  }
  std::string json;
  append_json(json, headers);
  add_json(fields, "headers", std::move(json));
}

void add_properties(std::vector<SourceField>& fields, const amqp_basic_properties_t& properties) {
  for (const TextProperty& property : text_properties) {
    if (has(properties, property.flag)) {
      add_text(fields, property.name, view(properties.*property.value));
    }
  }
  if (has(properties, AMQP_BASIC_TIMESTAMP_FLAG)) {
    add_text(fields, "timestamp", time_text(properties.timestamp));
  }
  const bool has_priority = has(properties, AMQP_BASIC_PRIORITY_FLAG);
  add_text(fields, "priority", has_priority ? priority_word(properties.priority) : "normal");
  if (has(properties, AMQP_BASIC_HEADERS_FLAG) && properties.headers.num_entries > 0) {
    add_headers(fields, properties.headers);
  }
}

}  // namespace

std::string_view priority_word(std::uint8_t priority) {
  if (priority <= 3) {
    return "low";
  }
  return priority <= 6 ? "normal" : "high";
}

SourceRecord to_record(const QueueMessage& message, bool body_is_envelope) {
  SourceRecord record{.receipt = fmt::format("{}", message.tag), .fields = {}};
  const MessageProperties decoded{message};
  const amqp_basic_properties_t& properties = decoded.get();
  if (has(properties, AMQP_BASIC_CONTENT_ENCODING_FLAG) &&
      !is_plain(view(properties.content_encoding))) {
    record.problem =
        fmt::format("The content encoding `{}` is not supported. Send the body as plain JSON.",
                    printable(view(properties.content_encoding)));
    return record;
  }
  record.fields.reserve(10);
  if (body_is_envelope) {
    const Result<std::vector<JsonMember>> members = read_json_envelope(message.body);
    if (!members) {
      record.problem = fmt::format("The body is not a JSON object: {}", members.error().message);
      return record;
    }
    for (const JsonMember& member : *members) {
      add_json(record.fields, member.key, std::string{member.value});
    }
  } else {
    add_json(record.fields, "body", message.body);
  }
  add_properties(record.fields, properties);
  add_text(record.fields, "routing_key", message.routing_key);
  add_text(record.fields, "exchange", message.exchange);
  return record;
}

}  // namespace postrider::amqp
