#include "api/json/stream_json.h"

#include <fmt/format.h>

#include "api/json/json_writer.h"
#include "api/json/webhook_json.h"

namespace postrider::api {
namespace {

double to_shown_ms(Micros duration) { return static_cast<double>(duration.count()) / 1000.0; }

void write_attempt(JsonWriter& writer, const DeliveryUpdate& stream_event) {
  writer.key("attempt");
  if (!stream_event.attempt_number) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("number", *stream_event.attempt_number);
  writer.member("status", stream_event.failure ? "failed" : "succeeded");
  writer.member("failure_category", stream_event.failure
                                        ? std::optional{to_string(*stream_event.failure)}
                                        : std::nullopt);
  writer.member("http_status", stream_event.http_status);
  writer.member("duration_ms", stream_event.duration
                                   ? std::optional{to_shown_ms(*stream_event.duration)}
                                   : std::nullopt);
  writer.close_object();
}

void write_members(JsonWriter& writer, const DeliveryUpdate& stream_event) {
  const Delivery& delivery = stream_event.delivery;
  writer.member("delivery_id", delivery.id);
  writer.member("event_id", delivery.event_id);
  writer.member("event_type", delivery.event_type);
  writer.member("status", to_string(delivery.state));
  writer.member("trigger", to_string(delivery.trigger));
  writer.member("attempt_count", delivery.budget_used);
  writer.member("attempts_total", delivery.attempt_count);
  writer.member("next_attempt_at",
                is_waiting(delivery.state) ? std::optional{delivery.due} : std::nullopt);
  write_attempt(writer, stream_event);
  writer.key("dead_letter");
  if (!stream_event.dead) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("classification", to_string(stream_event.dead->classification));
  writer.member("reason", stream_event.dead->reason);
  writer.close_object();
}

void write_members(JsonWriter& writer, const DeliveriesCreated& stream_event) {
  writer.member("event_type", stream_event.event_type);
  writer.member("count", stream_event.count);
}

void write_members(JsonWriter& writer, const CircuitUpdate& stream_event) {
  writer.member("from", to_string(stream_event.from));
  writer.member("to", to_string(stream_event.to));
}

void write_members(JsonWriter& writer, const AlertUpdate& stream_event) {
  writer.member("kind", to_string(stream_event.kind));
  writer.member_bytes("detail", stream_event.detail);
}

std::string_view name_of(const DeliveryUpdate&) { return "delivery"; }
std::string_view name_of(const DeliveriesCreated&) { return "created"; }
std::string_view name_of(const CircuitUpdate&) { return "circuit"; }
std::string_view name_of(const AlertUpdate&) { return "alert"; }

}  // namespace

std::string write_stream_event(const StreamPosition& position, const StreamEvent& stream_event) {
  const std::string_view name =
      std::visit([](const auto& what) { return name_of(what); }, stream_event.what);
  std::string text = fmt::format("id: {}\nevent: {}\ndata: ", to_string(position), name);
  JsonWriter writer{text};
  writer.open_object();
  writer.member("at", stream_event.at);
  writer.member("webhook_id", stream_event.webhook_id);
  write_tenant_id(writer, stream_event.tenant_id);
  std::visit([&writer](const auto& what) { write_members(writer, what); }, stream_event.what);
  writer.close_object();
  text += "\n\n";
  return text;
}

std::string write_notice(std::string_view event, std::string_view detail) {
  std::string text = fmt::format("event: {}\ndata: ", event);
  JsonWriter writer{text};
  writer.open_object();
  writer.member("detail", detail);
  writer.close_object();
  text += "\n\n";
  return text;
}

}  // namespace postrider::api
