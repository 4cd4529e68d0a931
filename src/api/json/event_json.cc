#include "api/json/event_json.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/filter/event_pattern.h"
#include "core/request/signature.h"
#include "core/trace/trace_header.h"

#include "api/json/webhook_json.h"
#include "api/resources/tenant_text.h"

namespace postrider::api {
namespace {

constexpr TextRule name_rule{.bytes_max = 256, .multiline = false};
constexpr std::size_t metadata_bytes_max = std::size_t{16} * 1024;

void read_type(ObjectReader& reader, Event& event) {
  const std::optional<std::string_view> slice = reader.raw("type");
  std::optional<std::string> type = slice ? decode_json_string(*slice) : std::nullopt;
  if (!type || !is_event_type(*type)) {
    reader.refuse(
        "type", fmt::format("{}must be 1 to {} letters, digits, `_`, `-` and single dots, such as "
                            "order.created.",
                            slice ? "" : "is required and ", event_type_length_max));
    return;
  }
  event.type = *std::move(type);
}

void read_data(ObjectReader& reader, Event& event) {
  const std::optional<std::string_view> slice = reader.raw("data");
  if (!slice) {
    reader.refuse("data", "is required. It can be any JSON value.");
    return;
  }
  event.data = *slice;
}

/// The client's key from the body or, if that has none, from the header.
std::optional<std::string> read_key(ObjectReader& reader, const EventArrival& arrival) {
  JsonField<std::string> key =
      reader.text("idempotency_key", {.bytes_max = idempotency_key_bytes_max, .multiline = false});
  // In a batch, the key from the header applies only to items without their own key.
  const bool is_single = arrival.path.empty();
  if (is_single && key.value && arrival.key && *key.value != *arrival.key) {
    reader.refuse("idempotency_key",
                  "contradicts the Idempotency-Key header. Send only one of them.");
  }
  if (key.value) {
    return std::move(key.value);
  }
  return arrival.key;
}

void read_tenant(ObjectReader& reader, const EventArrival& arrival, Event& event) {
  const TenantId fallback = arrival.tenant_id.value_or(TenantId{});
  event.tenant_id = read_tenant_id(reader, "tenant_id").value.value_or(fallback);
  if (arrival.tenant_id && event.tenant_id != *arrival.tenant_id) {
    reader.refuse("tenant_id", "must be omitted or be the tenant of this API key.");
  }
}

/// The same key for every publication of the same event: same resource, type and second.
std::string derived_key(const Event& event, const Crypto& crypto) {
  return to_hex(crypto.sha256(
      fmt::format("{}.{}.{}", *event.resource_id, event.type, to_unix_seconds(event.timestamp))));
}

Problem data_too_large(const EventArrival& arrival, std::size_t bytes, std::size_t bytes_max) {
  const std::string field = arrival.path.empty() ? "data" : arrival.path + ".data";
  std::string message = fmt::format("has {} bytes; the limit is {} bytes.", bytes, bytes_max);
  return {.status = 413,
          .code = "data_too_large",
          .title = "The event's data is too large",
          .detail = fmt::format("`{}` {}", field, message),
          .errors = {{field, message}}};
}

}  // namespace

Parsed<EventDraft> read_event(std::vector<JsonMember> members, const EventArrival& arrival,
                              const ApiOptions& options) {
  FieldErrors errors;
  ObjectReader reader{std::move(members), arrival.path, errors};
  EventDraft draft;
  Event& event = draft.event;
  read_type(reader, event);
  read_data(reader, event);
  read_tenant(reader, arrival, event);
  assign(reader.text("resource_id", name_rule), event.resource_id);
  assign(reader.text("source", name_rule), event.source);
  assign(reader.text("ordering_key", name_rule), event.ordering_key);
  assign(reader.verbatim_object("metadata", metadata_bytes_max), event.metadata, std::string{"{}"});
  assign(reader.choice("priority", parse_priority, "high, normal, low"), event.priority,
         Priority::normal);
  const std::optional<WallTime> timestamp = reader.time("timestamp").value;
  event.timestamp = timestamp.value_or(arrival.now);
  std::optional<std::string> key = read_key(reader, arrival);
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  if (event.data.size() > options.data_bytes_max) {
    return tl::make_unexpected(data_too_large(arrival, event.data.size(), options.data_bytes_max));
  }

  event.id = arrival.id;
  event.created_at = arrival.now;
  event.trace = arrival.trace;
  if (!key && options.derive_keys && timestamp && event.resource_id) {
    key = derived_key(event, *options.crypto);
  }
  if (key) {
    draft.claim = IdempotencyClaim{.key = *key,
                                   .body_digest = options.crypto->sha256(arrival.text),
                                   .expires_at = arrival.now + options.idempotency_window};
  }
  event.idempotency_key = key ? *std::move(key) : generated_key(event.id);
  return draft;
}

bool has_derived_key(const Event& event, const ApiOptions& options) {
  return options.derive_keys && event.resource_id &&
         event.idempotency_key == derived_key(event, *options.crypto);
}

Parsed<std::optional<std::string>> read_key_header(const HttpRequest& request) {
  const std::optional<std::string_view> key = request.header("idempotency-key");
  if (!key) {
    return std::optional<std::string>{};
  }
  const bool printable = std::ranges::all_of(
      *key, [](char character) { return character >= 0x20 && character < 0x7F; });
  if (key->empty() || key->size() > idempotency_key_bytes_max || !printable) {
    std::string message =
        fmt::format("must be 1 to {} printable ASCII characters.", idempotency_key_bytes_max);
    return tl::make_unexpected(Problem{.status = 422,
                                       .code = "invalid_idempotency_key",
                                       .title = "The idempotency key is not valid",
                                       .detail = "The Idempotency-Key header " + message,
                                       .errors = {{"Idempotency-Key", message}}});
  }
  return std::optional{std::string{*key}};
}

std::optional<TraceContext> read_trace_headers(const HttpRequest& request) {
  std::optional<std::string_view> traceparent;
  std::string tracestate;
  for (const auto& [name, value] : request.headers) {
    if (name == "traceparent") {
      if (traceparent) {
        return std::nullopt;  // Which of them is meant is unknown.
      }
      traceparent = value;
    } else if (name == "tracestate") {
      tracestate += tracestate.empty() ? "" : ",";
      tracestate += value;
    }
  }
  return traceparent ? parse_trace(*traceparent, tracestate) : std::nullopt;
}

void open_event(JsonWriter& writer, const Event& event) {
  writer.open_object();
  writer.member("id", event.id);
  writer.member("type", event.type);
  write_tenant_id(writer, event.tenant_id);
  writer.member("resource_id", event.resource_id);
  writer.member("idempotency_key", event.idempotency_key);
  writer.member("source", event.source);
  writer.member("priority", to_string(event.priority));
  writer.member("ordering_key", event.ordering_key);
  writer.member_raw("metadata", event.metadata);
  writer.member("timestamp", event.timestamp);
  writer.member("created_at", event.created_at);
  writer.member("trace_id", to_string(trace_id_of(event)));
}

std::string generated_key(const EventId& id) {
  std::uint64_t time_half = 0;
  std::uint64_t random_half = 0;
  std::memcpy(&time_half, id.bytes.data(), sizeof time_half);
  std::memcpy(&random_half, id.bytes.data() + sizeof time_half, sizeof random_half);
  // Each step is a bijection, so different ids give different keys, apart from the six bits that
  // are overwritten below.
  const std::uint64_t high = splitmix64(random_half);
  std::uint64_t low_state = time_half ^ high;
  const std::uint64_t low = splitmix64(low_state);

  Uuid bytes{};
  std::memcpy(bytes.data(), &high, sizeof high);
  std::memcpy(bytes.data() + sizeof high, &low, sizeof low);
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);
  std::string text = to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  for (const std::size_t dash : {8u, 13u, 18u, 23u}) {
    text.insert(dash, "-");
  }
  return text;
}

}  // namespace postrider::api
