#include "api/json/delivery_json.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/net/header_rules.h"

#include "api/json/webhook_json.h"

namespace postrider::api {
namespace {

double to_shown_ms(Micros duration) { return static_cast<double>(duration.count()) / 1000.0; }

const LaneView* find_lane(const Delivery& delivery, const LaneViews& lanes) {
  const auto found = lanes.find(delivery.webhook_id);
  return is_waiting(delivery.state) && found != lanes.end() ? &found->second : nullptr;
}

bool is_in_flight(const Delivery& delivery, const LaneView& lane) {
  return std::ranges::find(lane.in_flight, delivery.id) != lane.in_flight.end();
}

/// A blocked lane blocks only the deliveries that are due before it can send again.
bool is_blocked(const Delivery& delivery, const LaneView& lane) {
  return lane.blocked != BlockReason::none && !is_in_flight(delivery, lane) &&
         (!lane.blocked_until || delivery.due <= *lane.blocked_until);
}

void write_blocked(JsonWriter& writer, const Delivery& delivery, const LaneViews& lanes) {
  writer.key("blocked");
  const LaneView* lane = find_lane(delivery, lanes);
  if (lane == nullptr || !is_blocked(delivery, *lane)) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("reason", to_string(lane->blocked));
  writer.member("until", lane->blocked_until);
  writer.close_object();
}

void write_dead(JsonWriter& writer, const std::optional<DeadReason>& dead) {
  writer.key("dead_letter");
  if (!dead) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("classification", to_string(dead->classification));
  writer.member("reason", dead->reason);
  writer.close_object();
}

template <class Named>
std::optional<std::string_view> name_of(const std::optional<Named>& value) {
  return value ? std::optional{to_string(*value)} : std::nullopt;
}

/// Many outcomes with an HTTP status have no message of their own.
void write_error(JsonWriter& writer, const Attempt& attempt) {
  const Outcome& outcome = attempt.outcome;
  writer.key("error_message");
  if (!outcome.error_message.empty()) {
    writer.bytes(outcome.error_message);
  } else if (attempt.failure_category && outcome.http_status) {
    writer.value(fmt::format("The receiver answered {}.", *outcome.http_status));
  } else {
    writer.value(nullptr);
  }
}

/// Cuts the sample again after cleaning, because U+FFFD is longer than the byte it replaces.
std::string shown_sample(std::string_view sample) {
  std::string text = clean_utf8(sample);
  if (text.size() > response_sample_bytes_max) {
    std::size_t length = response_sample_bytes_max;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0u) == 0x80u) {
      --length;
    }
    text.resize(length);
  }
  return text;
}

}  // namespace

std::string_view shown_status(const Delivery& delivery, const LaneViews& lanes) {
  const LaneView* lane = find_lane(delivery, lanes);
  return lane != nullptr && is_in_flight(delivery, *lane) ? "in_flight" : to_string(delivery.state);
}

void open_delivery(JsonWriter& writer, const DeliveryRecord& record, const LaneViews& lanes) {
  const Delivery& delivery = record.delivery;
  const bool waiting = is_waiting(delivery.state);
  writer.open_object();
  writer.member("id", delivery.id);
  writer.member("event_id", delivery.event_id);
  writer.member("webhook_id", delivery.webhook_id);
  write_tenant_id(writer, record.tenant_id);
  writer.member("event_type", delivery.event_type);
  writer.member("priority", to_string(delivery.priority));
  writer.member("status", shown_status(delivery, lanes));
  write_blocked(writer, delivery, lanes);
  writer.member("trigger", to_string(delivery.trigger));
  writer.member("attempt_count", delivery.attempt_count);
  writer.member("next_attempt_at", waiting ? std::optional{delivery.due} : std::nullopt);
  writer.member("failure_category", name_of(record.last_failure));
  writer.member("http_status", record.last_http_status);
  write_dead(writer, record.dead);
  writer.member("created_at", record.created_at);
  writer.member("updated_at", record.updated_at);
  writer.member("completed_at", record.completed_at);
}

void write_delivery(JsonWriter& writer, const DeliveryRecord& record, const LaneViews& lanes) {
  open_delivery(writer, record, lanes);
  writer.close_object();
}

void open_attempt(JsonWriter& writer, const Attempt& attempt) {
  const Outcome& outcome = attempt.outcome;
  writer.open_object();
  writer.member("id", attempt.id);
  writer.member("number", attempt.number);
  writer.member("status", attempt.failure_category ? "failed" : "succeeded");
  writer.member("trigger", to_string(attempt.trigger));
  writer.member("failure_category", name_of(attempt.failure_category));
  writer.member("http_status", outcome.http_status);
  write_error(writer, attempt);
  writer.member("response_sample", shown_sample(outcome.response_sample));
  writer.key("response_headers");
  write_joined_headers(writer, outcome.response_headers);
  writer.member("duration_ms", to_shown_ms(outcome.duration));
  writer.key("timings");
  writer.open_object();
  writer.member("dns", to_shown_ms(outcome.timings.dns));
  writer.member("connect", to_shown_ms(outcome.timings.connect));
  writer.member("tls", to_shown_ms(outcome.timings.tls));
  writer.member("first_byte", to_shown_ms(outcome.timings.first_byte));
  writer.close_object();
  const bool connected = !outcome.remote_ip.empty();
  writer.member("remote_ip", connected ? std::optional{outcome.remote_ip} : std::nullopt);
  writer.member("scheduled_at", attempt.scheduled_at);
  writer.member("executed_at", outcome.executed_at);
  writer.member("next_retry_at", attempt.next_retry_at);
}

void write_attempt(JsonWriter& writer, const Attempt& attempt) {
  open_attempt(writer, attempt);
  writer.close_object();
}

void write_joined_headers(JsonWriter& writer, const Headers& headers) {
  Headers joined;
  for (const auto& [name, value] : headers) {
    const auto same = std::ranges::find_if(
        joined, [&](const auto& other) { return same_header(other.first, name); });
    if (same == joined.end()) {
      joined.emplace_back(name, value);
    } else {
      same->second += ", " + value;
    }
  }
  writer.open_object();
  for (const auto& [name, value] : joined) {
    writer.member_bytes(clean_utf8(name), value);
  }
  writer.close_object();
}

}  // namespace postrider::api
