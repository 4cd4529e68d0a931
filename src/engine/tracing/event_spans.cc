#include "engine/tracing/event_spans.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/trace/span_ids.h"

namespace postrider {
namespace {

Micros since_1970(WallTime time) { return time.time_since_epoch(); }

void add_text(Span& span, std::string_view name, std::string_view value) {
  if (!value.empty()) {
    span.attributes.push_back({name, std::string{value}});
  }
}

void add_number(Span& span, std::string_view name, std::int64_t value) {
  span.attributes.push_back({name, value});
}

void add_delivery(Span& span, const Settlement& settlement, const TracedReceiver& receiver) {
  const Delivery& delivery = settlement.delivery;
  add_text(span, "postrider.event.id", delivery.event_id.to_string());
  add_text(span, "postrider.event.type", delivery.event_type);
  add_text(span, "postrider.tenant.id", receiver.tenant_id);
  add_text(span, "postrider.webhook.id", delivery.webhook_id.to_string());
  add_text(span, "postrider.delivery.id", delivery.id.to_string());
  add_text(span, "postrider.delivery.status", to_string(delivery.state));
  if (settlement.dead) {
    add_text(span, "postrider.dead_letter.reason", settlement.dead->reason);
  }
}

/// Attributes of the semantic conventions of OpenTelemetry.
void add_exchange(Span& span, const Attempt& attempt, const TracedReceiver& receiver) {
  const Outcome& outcome = attempt.outcome;
  add_text(span, "http.request.method", "POST");
  if (attempt.number > 1) {
    add_number(span, "http.request.resend_count", attempt.number - 1);
  }
  if (outcome.http_status) {
    add_number(span, "http.response.status_code", *outcome.http_status);
  }
  if (!receiver.host.empty()) {
    add_text(span, "server.address", receiver.host);
    add_number(span, "server.port", receiver.port);
  }
  add_text(span, "network.peer.address", outcome.remote_ip);
  if (attempt.failure_category) {
    add_text(span, "error.type", to_string(*attempt.failure_category));
  }
}

/// Many outcomes with an HTTP status have no message of their own.
std::string error_of(const Attempt& attempt) {
  const Outcome& outcome = attempt.outcome;
  if (outcome.error_message.empty() && outcome.http_status) {
    return fmt::format("The receiver answered {}.", *outcome.http_status);
  }
  return outcome.error_message;
}

Span attempt_span(const Settlement& settlement, const TracedReceiver& receiver) {
  const Delivery& delivery = settlement.delivery;
  const Attempt& attempt = *settlement.attempt;
  Span span{.trace_id = trace_id_of(delivery),
            .id = attempt_span_id(delivery.id, attempt.number, attempt.outcome.executed_at),
            .parent = publish_span_id(delivery.event_id),
            .name = "attempt",
            .kind = SpanKind::client,
            .start = since_1970(attempt.outcome.executed_at),
            .duration = attempt.outcome.duration};
  add_delivery(span, settlement, receiver);
  add_number(span, "postrider.attempt.number", attempt.number);
  add_text(span, "postrider.attempt.trigger", to_string(attempt.trigger));
  add_exchange(span, attempt, receiver);
  if (attempt.failure_category) {
    span.error = error_of(attempt);
  }
  return span;
}

Span given_up_span(const Settlement& settlement, const TracedReceiver& receiver) {
  const Delivery& delivery = settlement.delivery;
  Span span{.trace_id = trace_id_of(delivery),
            .id = given_up_span_id(delivery.id, delivery.attempt_count),
            .parent = publish_span_id(delivery.event_id),
            .name = "dead_letter",
            .start = since_1970(settled_at(settlement))};
  add_delivery(span, settlement, receiver);
  span.error = settlement.dead->reason;
  return span;
}

/// The phases of an attempt follow each other from its start.
void add_phases(std::vector<Span>& spans, const Timings& timings) {
  const std::pair<std::string_view, Micros> phases[] = {{"dns", timings.dns},
                                                        {"connect", timings.connect},
                                                        {"tls", timings.tls},
                                                        {"first_byte", timings.first_byte}};
  const Span attempt = spans.back();
  Micros begun{0};
  std::uint32_t index = 0;
  for (const auto& [name, duration] : phases) {
    ++index;
    if (duration <= Micros{0}) {
      continue;
    }
    spans.push_back({.trace_id = attempt.trace_id,
                     .id = part_span_id(attempt.id, index),
                     .parent = attempt.id,
                     .name = name,
                     .kind = SpanKind::internal,
                     .start = attempt.start + begun,
                     .duration = duration});
    begun += duration;
  }
}

}  // namespace

std::vector<Span> publish_spans(const Publish& publish, const PublishReceipt& receipt,
                                const CommitTime& commit) {
  const Event& event = publish.event;
  POSTRIDER_ASSERT(event.trace.has_value());
  const Micros ended = since_1970(commit.begun) + commit.duration;
  // The clock may have been set back since the event arrived.
  const Micros begun = std::min(since_1970(event.created_at), since_1970(commit.begun));
  const bool has_parent = event.trace->parent != SpanId{};
  Span span{.trace_id = event.trace->trace_id,
            .id = publish_span_id(event.id),
            .parent = has_parent ? std::optional{event.trace->parent} : std::nullopt,
            .state = event.trace->state,
            .name = "publish",
            .kind = event.source_id ? SpanKind::consumer : SpanKind::server,
            .start = begun,
            .duration = ended - begun};
  add_text(span, "postrider.event.id", event.id.to_string());
  add_text(span, "postrider.event.type", event.type);
  add_text(span, "postrider.tenant.id", event.tenant_id);
  if (const auto* duplicate = std::get_if<Duplicate>(&receipt)) {
    add_text(span, "postrider.duplicate_of", duplicate->first_id.to_string());
  } else {
    add_number(span, "postrider.deliveries", static_cast<std::int64_t>(delivery_count(publish)));
  }
  const Span made{.trace_id = span.trace_id,
                  .id = commit_span_id(event.id),
                  .parent = span.id,
                  .state = span.state,
                  .name = "commit",
                  .start = since_1970(commit.begun),
                  .duration = commit.duration};
  return {std::move(span), made};
}

std::vector<Span> settlement_spans(const Settlement& settlement, const TracedReceiver& receiver) {
  std::vector<Span> spans;
  if (!settlement.attempt) {
    spans.push_back(given_up_span(settlement, receiver));
    return spans;
  }
  spans.reserve(5);
  spans.push_back(attempt_span(settlement, receiver));
  add_phases(spans, settlement.attempt->outcome.timings);
  return spans;
}

}  // namespace postrider
