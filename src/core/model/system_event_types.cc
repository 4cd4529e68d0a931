#include "core/model/system_event_types.h"

#include <string>

#include <fmt/format.h>

namespace postrider {
namespace {

constexpr std::string_view alert_raised = "postrider.alert.raised";
constexpr std::string_view alert_resolved = "postrider.alert.resolved";
constexpr std::string_view webhook_disabled = "postrider.webhook.disabled";
constexpr std::string_view dead_letter = "postrider.delivery.dead_letter";
constexpr std::string_view secret_expiring = "postrider.secret.expiring";
constexpr std::string_view operation_finished = "postrider.operation.finished";
constexpr std::string_view test = "postrider.test";

// `notifications` lists at most some of those that a message tells about; `count` is their number.
constexpr std::string_view schema_format = R"({{
  "type": "object",
  "required": ["kind", "transition", "severity", "count", "text", "notifications"],
  "properties": {{
    "kind": {{"type": "string", "description": "The kind of the alerts, or operation_finished."}},
    "transition": {{"enum": [{}]}},
    "severity": {{"enum": ["info", "warning", "critical"]}},
    "count": {{"type": "integer", "minimum": 1}},
    "text": {{"type": "string", "description": "The message for people."}},
    "notifications": {{
      "type": "array",
      "minItems": 1,
      "items": {{
        "type": "object",
        "required": ["id", "kind", "transition", "detail", "raised_at"],
        "properties": {{
          "id": {{"type": "string"}},
          "kind": {{"type": "string"}},
          "transition": {{"type": "string"}},
          "alert_id": {{"type": ["string", "null"]}},
          "operation_id": {{"type": ["string", "null"]}},
          "tenant_id": {{"type": ["string", "null"]}},
          "webhook_id": {{"type": ["string", "null"]}},
          "webhook_name": {{"type": ["string", "null"]}},
          "webhook_url": {{"type": ["string", "null"]}},
          "source": {{"type": ["string", "null"]}},
          "detail": {{"type": "string", "description": "What happened, as a sentence."}},
          "measured": {{"type": ["number", "null"]}},
          "limit": {{"type": ["number", "null"]}},
          "unit": {{"enum": ["count", "percent", "ms", "days", null]}},
          "raised_at": {{"type": "string"}},
          "resolved_at": {{"type": ["string", "null"]}},
          "link": {{"type": ["string", "null"], "description": "A page of the dashboard."}}
        }}
      }}
    }}
  }}
}})";

constexpr std::string_view example_format = R"({{
  "kind": "{0}",
  "transition": "{1}",
  "severity": "{2}",
  "count": 1,
  "text": "{3}",
  "notifications": [
    {{
      "id": "ntf_01kf41d2x6b9e3k7p0r4t8w1y5",
      "kind": "{0}",
      "transition": "{1}",
      "alert_id": {4},
      "operation_id": {5},
      "tenant_id": "acme",
      "webhook_id": "whk_01kf3zq5m8e2v9x7t4c6b0n1a3",
      "webhook_name": "Orders",
      "webhook_url": "https://shop.example/hooks",
      "source": null,
      "detail": "{3}",
      "measured": null,
      "limit": null,
      "unit": null,
      "raised_at": "2026-01-31T23:59:59.123Z",
      "resolved_at": {6},
      "link": null
    }}
  ]
}})";

constexpr std::string_view end_time = R"("2026-02-01T00:04:59.123Z")";

struct Sample {
  std::string_view name;
  std::string_view description;
  NotificationKind kind;
  NotificationTransition transition;
  std::string_view detail;
};

EventType describe(const Sample& sample) {
  const bool is_alert = sample.kind.what == NotificationKind::What::alert;
  const bool has_ended = sample.transition != NotificationTransition::raised;
  const WallTime since = wall_from_unix_ms(1'767'225'600'000);  // 2026-01-01.
  return {
      .name = std::string{sample.name},
      .description = std::string{sample.description},
      .schema = fmt::format(schema_format, fmt::format("\"{}\"", to_string(sample.transition))),
      .example = fmt::format(example_format, to_string(sample.kind), to_string(sample.transition),
                             to_string(severity_of(sample.kind)), sample.detail,
                             is_alert ? "\"alt_01kf41d2x6b9e3k7p0r4t8w1y5\"" : "null",
                             is_alert ? "null" : "\"opr_01kf41d2x6b9e3k7p0r4t8w1y5\"",
                             has_ended ? end_time : "null"),
      .created_at = since,
      .updated_at = since};
}

}  // namespace

const std::vector<EventType>& system_event_types() {
  using Transition = NotificationTransition;
  static const std::vector<EventType> all = {
      describe({alert_raised, "Alerts were raised.",
                NotificationKind::of(AlertKind::circuit_opened), Transition::raised,
                "6 of 10 attempts failed; the circuit opened."}),
      describe({alert_resolved, "Alerts were resolved.",
                NotificationKind::of(AlertKind::circuit_opened), Transition::resolved,
                "6 of 10 attempts failed; the circuit opened."}),
      describe({dead_letter, "Deliveries failed for good (alerts of kind permanent_failure).",
                NotificationKind::of(AlertKind::permanent_failure), Transition::raised,
                "A delivery failed after 10 attempts."}),
      describe({operation_finished, "A bulk operation has finished.",
                NotificationKind::operation_finished(), Transition::finished,
                "The replay has finished: 120 deliveries succeeded."}),
      describe({secret_expiring, "A secret should be rotated (alerts of kind secret_old).",
                NotificationKind::of(AlertKind::secret_old), Transition::raised,
                "The secret is 400 days old."}),
      describe({webhook_disabled, "The server has switched a webhook off.",
                NotificationKind::of(AlertKind::webhook_disabled), Transition::raised,
                "The receiver answered 410 Gone."}),
  };
  return all;
}

std::string_view system_event_type(NotificationKind kind, NotificationTransition transition) {
  switch (transition) {
    case NotificationTransition::resolved:
      return alert_resolved;
    case NotificationTransition::finished:
      return operation_finished;
    case NotificationTransition::test:
      return test;
    case NotificationTransition::raised:
      break;
  }
  switch (kind.alert) {
    case AlertKind::webhook_disabled:
      return webhook_disabled;
    case AlertKind::permanent_failure:
      return dead_letter;
    case AlertKind::secret_old:
      return secret_expiring;
    default:
      return alert_raised;
  }
}

}  // namespace postrider
