#include "api/stream_json.h"

#include <fmt/format.h>

#include "api/json_writer.h"
#include "api/webhook_json.h"

namespace postrider::api {
namespace {

double to_shown_ms(Micros duration) { return static_cast<double>(duration.count()) / 1000.0; }

void write_attempt_line(JsonWriter& writer, const DeliveryNews& news) {
  writer.key("attempt");
  if (!news.attempt_number) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("number", *news.attempt_number);
  writer.member("status", news.failure ? "failed" : "succeeded");
  writer.member("failure_category",
                news.failure ? std::optional{to_string(*news.failure)} : std::nullopt);
  writer.member("http_status", news.http_status);
  writer.member("duration_ms",
                news.duration ? std::optional{to_shown_ms(*news.duration)} : std::nullopt);
  writer.close_object();
}

void write_members(JsonWriter& writer, const DeliveryNews& news) {
  const Delivery& delivery = news.delivery;
  writer.member("delivery_id", delivery.id);
  writer.member("event_id", delivery.event_id);
  writer.member("event_type", delivery.event_type);
  writer.member("status", to_string(delivery.state));
  writer.member("trigger", to_string(delivery.trigger));
  writer.member("attempt_count", delivery.attempt_count);
  writer.member("next_attempt_at",
                is_waiting(delivery.state) ? std::optional{delivery.due} : std::nullopt);
  write_attempt_line(writer, news);
  writer.key("dead_letter");
  if (!news.dead) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("classification", to_string(news.dead->classification));
  writer.member("reason", news.dead->reason);
  writer.close_object();
}

void write_members(JsonWriter& writer, const CircuitNews& news) {
  writer.member("from", to_string(news.from));
  writer.member("to", to_string(news.to));
}

void write_members(JsonWriter& writer, const AlertNews& news) {
  writer.member("kind", to_string(news.kind));
  writer.member_bytes("detail", news.detail);
}

std::string_view name_of(const DeliveryNews&) { return "delivery"; }
std::string_view name_of(const CircuitNews&) { return "circuit"; }
std::string_view name_of(const AlertNews&) { return "alert"; }

}  // namespace

std::string write_news(const StreamPlace& place, const News& news) {
  const std::string_view name =
      std::visit([](const auto& what) { return name_of(what); }, news.what);
  std::string text = fmt::format("id: {}\nevent: {}\ndata: ", to_string(place), name);
  JsonWriter writer{text};
  writer.open_object();
  writer.member("at", news.at);
  writer.member("webhook_id", news.webhook_id);
  write_tenant(writer, news.tenant_id);
  std::visit([&writer](const auto& what) { write_members(writer, what); }, news.what);
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
