// Shows what a webhook would be and do, without storing or sending anything.
#include <memory>

#include "core/model/event_match.h"
#include "core/policy/retry_schedule.h"
#include "core/request/secret_text.h"
#include "core/request/sent_request.h"

#include "api/json/event_json.h"
#include "api/json/json_body.h"
#include "api/json/webhook_json.h"
#include "api/resources/answers.h"
#include "api/resources/resources.h"
#include "api/resources/webhook_draft.h"

namespace postrider::api {
namespace {

/// The body of the request. The members point into it.
struct PreviewRequest {
  WebhookRef existing;  // Null: the preview is of a new webhook.
  std::vector<JsonMember> webhook;
  std::optional<std::vector<JsonMember>> event;
};

WebhookRef read_existing(ObjectReader& reader, const Snapshots& snapshots) {
  const auto id = reader.choice("webhook_id", WebhookId::parse, "the ids of webhooks (whk_…)");
  if (!id.value) {
    return nullptr;
  }
  WebhookRef existing = snapshots.directory()->find(*id.value);
  if (existing == nullptr) {
    reader.refuse("webhook_id", "must be the id of an existing webhook.");
  }
  return existing;
}

Parsed<PreviewRequest> read_preview(const Context& context, const HttpRequest& request) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  PreviewRequest asked;
  asked.existing = read_existing(reader, context.services.snapshots);
  if (const JsonField<ObjectReader> webhook = reader.object("webhook"); webhook.value) {
    asked.webhook = webhook.value->members();
  } else if (reader.raw("webhook_id").value_or("null") == "null") {
    reader.refuse("webhook", "is required unless there is a webhook_id.");
  }
  if (const JsonField<ObjectReader> event = reader.object("event"); event.value) {
    asked.event = event.value->members();
  }
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return asked;
}

/// The event as it would be published. Without a tenant it belongs to the webhook's.
Parsed<Event> read_example(const Context& context, std::vector<JsonMember> members,
                           const Webhook& webhook) {
  const bool has_tenant =
      std::ranges::find(members, "tenant_id", &JsonMember::key) != members.end();
  POSTRIDER_TRY(EventDraft draft, read_event(std::move(members),
                                             {.text = {},
                                              .path = "event",
                                              .key = std::nullopt,
                                              .id = EventId{context.services.ids.new_uuid()},
                                              .now = context.services.clock.now().wall,
                                              .tenant_id = context.caller.tenant_id},
                                             *context.options));
  if (!has_tenant) {
    draft.event.tenant_id = webhook.tenant_id;
  }
  return std::move(draft.event);
}

/// The first request of a delivery, with hidden credentials.
Parsed<SentRequest> make_request(const Context& context, const WebhookRef& webhook,
                                 const Event& event) {
  const ApiOptions& options = *context.options;
  const Result<Target> target =
      make_target(webhook, {options.url_policy, options.user_agent, options.make_sign});
  if (!target) {
    FieldErrors errors;
    errors.add("url", "is not acceptable: " + target.error().message);
    return tl::make_unexpected(errors.problem());
  }
  const AttemptStamp stamp{.delivery_id = DeliveryId{context.services.ids.new_uuid()},
                           .attempt_number = 1,
                           .now = context.services.clock.now().wall};
  const RequestTemplate shown{target->request->stored_shape()};
  return parse_request(webhook->url, shown.fill(event, stamp, target->signs));
}

/// Receivers cannot know it, and everybody may.
Secret<std::string> example_secret(const ApiOptions& options, SignatureScheme scheme) {
  const std::size_t length = options.secret_text_length;
  return generate_secret(scheme, std::string(secret_random_bytes(scheme, length), 'e'), length);
}

void write_schedule(JsonWriter& writer, const RetryPolicy& policy) {
  writer.key("retry_schedule");
  writer.open_array();
  for (const PlannedRetry& retry : retry_schedule(policy)) {
    writer.open_object();
    writer.member("attempt", retry.attempt);
    writer.member("delay_ms", retry.delay.count());
    writer.member("delay_min_ms", retry.delay_min.count());
    writer.member("delay_max_ms", retry.delay_max.count());
    writer.member("at_ms", retry.at.count());
    writer.close_object();
  }
  writer.close_array();
}

void write_matches(JsonWriter& writer, const Webhook& webhook, const Event* event) {
  writer.key("matches");
  if (event == nullptr) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("event_type", matches_type(webhook, *event));
  writer.member("filter", matches_filter(webhook, *event));
  writer.member("tenant", matches_tenant(webhook, *event));
  writer.member("resource", matches_resource(webhook, *event));
  writer.close_object();
}

void write_previewed(JsonWriter& writer, const std::optional<SentRequest>& request) {
  writer.key("request");
  if (!request) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("method", "POST");
  writer.member("url", request->url);
  writer.key("headers");
  writer.open_array();
  for (const auto& [name, value] : request->headers) {
    writer.open_object();
    writer.member("name", name);
    writer.member("value", value);
    writer.close_object();
  }
  writer.close_array();
  writer.member("body", request->body);
  writer.close_object();
}

Parsed<HttpResponse> preview(const Context& context, const HttpRequest& http) {
  POSTRIDER_TRY(PreviewRequest asked, read_preview(context, http));
  POSTRIDER_TRY(WebhookDraft draft,
                asked.existing
                    ? draft_changed_webhook(context, *asked.existing, std::move(asked.webhook))
                    : draft_new_webhook(context, std::move(asked.webhook)));
  const bool has_secret = !draft.webhook.secret.reveal().empty();
  if (!has_secret) {
    draft.webhook.secret = example_secret(*context.options, draft.webhook.signature.scheme);
  }
  const auto webhook = std::make_shared<const Webhook>(std::move(draft.webhook));
  std::optional<Event> event;
  std::optional<SentRequest> request;
  if (asked.event) {
    POSTRIDER_TRY(event, read_example(context, *std::move(asked.event), *webhook));
    POSTRIDER_TRY(request, make_request(context, webhook, *event));
  }
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.key("webhook");
  write_webhook(writer, *webhook,
                {.public_key = public_key(*context.options->crypto, webhook->signature.scheme,
                                          webhook->secret)});
  write_schedule(writer, webhook->retry);
  write_matches(writer, *webhook, event ? &*event : nullptr);
  write_previewed(writer, request);
  writer.member("signed_with", has_secret ? "webhook_secret" : "example_secret");
  writer.close_object();
  HttpResponse response = json_answer(200, std::move(body));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace

Awaitable<Reply> preview_webhook(Context context, HttpRequest request) {
  co_return preview(context, request);
}

}  // namespace postrider::api
