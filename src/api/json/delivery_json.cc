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

/// What is known of a failure.
struct Failure {
  std::string_view message;
  bool failed = false;
  std::optional<std::uint16_t> http_status;
};

/// Many outcomes with an HTTP status have no message of their own.
void write_error(JsonWriter& writer, std::string_view name, const Failure& failure) {
  writer.key(name);
  if (!failure.message.empty()) {
    writer.bytes(failure.message);
  } else if (failure.failed && failure.http_status) {
    writer.value(fmt::format("The receiver answered {}.", *failure.http_status));
  } else {
    writer.value(nullptr);
  }
}

void write_last_attempt(JsonWriter& writer, const DeliveryRecord& record) {
  const std::optional<LastAttempt>& last = record.last_attempt;
  writer.member("last_attempt_at", last ? std::optional{last->executed_at} : std::nullopt);
  write_error(writer, "last_error",
              {.message = last ? std::string_view{last->error_message} : std::string_view{},
               .failed = record.last_failure.has_value(),
               .http_status = record.last_http_status});
  writer.member("last_duration_ms",
                last ? std::optional{to_shown_ms(last->duration)} : std::nullopt);
}

/// A test is sent once.
std::uint32_t attempts_max(const Delivery& delivery, const Webhook& webhook) {
  return delivery.trigger == Trigger::test ? 1 : webhook.retry.attempts_max;
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

bool is_blocked_by_circuit(const Delivery& delivery, const LaneViews& lanes) {
  const LaneView* lane = find_lane(delivery, lanes);
  return lane != nullptr && lane->blocked == BlockReason::circuit && is_blocked(delivery, *lane);
}

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
  writer.member("attempt_count", delivery.budget_used);
  writer.member("attempts_total", delivery.attempt_count);
  writer.member("next_attempt_at", waiting ? std::optional{delivery.due} : std::nullopt);
  writer.member("failure_category", name_of(record.last_failure));
  writer.member("http_status", record.last_http_status);
  write_last_attempt(writer, record);
  write_dead(writer, record.dead);
  writer.member("created_at", record.created_at);
  writer.member("updated_at", record.updated_at);
  writer.member("completed_at", record.completed_at);
  writer.member("trace_id", to_string(trace_id_of(delivery)));
}

void write_receiver(JsonWriter& writer, const Delivery& delivery, const Directory& webhooks) {
  const WebhookRef webhook = webhooks.find(delivery.webhook_id);
  writer.member("webhook_name", webhook ? webhook->name : std::nullopt);
  writer.member("webhook_url", webhook ? std::optional{webhook->url} : std::nullopt);
  writer.member("max_attempts",
                webhook ? std::optional{attempts_max(delivery, *webhook)} : std::nullopt);
}

void write_delivery(JsonWriter& writer, const DeliveryRecord& record, const LaneViews& lanes,
                    const Directory& webhooks) {
  open_delivery(writer, record, lanes);
  write_receiver(writer, record.delivery, webhooks);
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
  write_error(writer, "error_message",
              {.message = outcome.error_message,
               .failed = attempt.failure_category.has_value(),
               .http_status = outcome.http_status});
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

void write_blocked_times(JsonWriter& writer, const std::vector<BlockedTime>& times, WallTime now) {
  writer.open_array();
  for (const BlockedTime& time : times) {
    writer.open_object();
    writer.member("kind", "circuit");
    writer.member("reason", to_string(time.reason));
    writer.member("from", time.from);
    writer.member("until", time.until);
    writer.member("duration_ms",
                  (time.until.value_or(std::max(now, time.from)) - time.from).count());
    writer.close_object();
  }
  writer.close_array();
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
