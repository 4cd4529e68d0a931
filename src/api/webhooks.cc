#include <algorithm>
#include <memory>

#include "core/signature.h"

#include "adapters/openssl/digest.h"
#include "api/answers.h"
#include "api/audit.h"
#include "api/json_body.h"
#include "api/publishing.h"
#include "api/query_reader.h"
#include "api/resources.h"
#include "api/webhook_answer.h"
#include "api/webhook_json.h"

namespace postrider::api {
namespace {

/// Merges the members into the webhook, or says what is wrong with them.
std::optional<Problem> merge(std::vector<JsonMember> members, const WebhookRules& rules,
                             Webhook& webhook) {
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  read_webhook(reader, rules, webhook);
  return errors.empty() ? std::nullopt : std::optional{errors.problem()};
}

Parsed<Webhook> read_new_webhook(const Context& context, const HttpRequest& request) {
  Parsed<std::vector<JsonMember>> members = read_body(request);
  if (!members) {
    return tl::make_unexpected(members.error());
  }
  const ApiOptions& options = *context.options;
  Webhook webhook = options.webhook_defaults;
  webhook.id = WebhookId{context.service->new_uuid()};
  webhook.secret = Secret{random_bytes(secret_bytes_made)};
  webhook.created_at = context.service->now().wall;
  webhook.updated_at = webhook.created_at;
  webhook.tenant_id = context.caller.tenant_id.value_or(TenantId{});
  const WebhookRules rules{options.url_policy, options.webhook_defaults, /*creating=*/true,
                           context.caller.tenant_id};
  if (std::optional<Problem> problem = merge(*std::move(members), rules, webhook)) {
    return tl::make_unexpected(*std::move(problem));
  }
  if (std::optional<Problem> problem = unknown_tenant(context, webhook.tenant_id)) {
    return tl::make_unexpected(*std::move(problem));
  }
  return webhook;
}

/// Waiting does not help, so it is no 429.
Problem over_webhook_quota(const Error& error) {
  return {.status = 422,
          .code = "webhook_quota_exceeded",
          .title = "The tenant has as many webhooks as it may have",
          .detail = error.message,
          .errors = {}};
}

/// The names of what is changed, for the audit log: values may be secret.
std::string name_fields(const std::vector<JsonMember>& members) {
  std::string detail;
  JsonWriter writer{detail};
  writer.open_object();
  writer.key("fields");
  writer.open_array();
  for (const JsonMember& member : members) {
    writer.value(member.key);
  }
  writer.close_array();
  writer.close_object();
  return detail;
}

/// An edit for the store thread. The body was accepted for the webhook as it stood a moment ago;
/// another change may have come in between, so it is merged once more and can still fail: into
/// `problem`.
Service::WebhookEdit make_edit(const Context& context, std::string body,
                               std::shared_ptr<std::optional<Problem>> problem) {
  const WallTime now = context.service->now().wall;
  return [options = context.options, body = std::move(body), problem = std::move(problem),
          now](const Webhook& current) -> Result<Webhook> {
    POSTRIDER_TRY(std::vector<JsonMember> members, read_json_object(body));
    Webhook changed = current;
    const WebhookRules rules{options->url_policy, options->webhook_defaults, /*creating=*/false};
    *problem = merge(std::move(members), rules, changed);
    if (*problem) {
      return fail(Errc::invalid, (*problem)->detail);
    }
    changed.updated_at = std::max(now, current.updated_at);
    return changed;
  };
}

}  // namespace

Awaitable<HttpResponse> create_webhook(Context context, HttpRequest request) {
  Parsed<Webhook> webhook = read_new_webhook(context, request);
  if (!webhook) {
    co_return render(webhook.error());
  }
  AuditEntry entry = audit_entry(context, {.action = "webhook.create",
                                           .subject = webhook->id.to_string(),
                                           .tenant_id = webhook->tenant_id});
  auto pending = context.service->add_webhook(*std::move(webhook), std::move(entry));
  const Result<WebhookRef> added = co_await std::move(pending);
  if (!added && added.error().code == Errc::conflict) {
    co_return render(over_webhook_quota(added.error()));
  }
  if (!added) {
    co_return render(to_problem(added.error()));
  }
  const LaneView fresh;
  std::string body;
  JsonWriter writer{body};
  write_webhook(writer, **added, {.lane = &fresh, .with_secret = true});
  HttpResponse response = json_answer(201, std::move(body));
  response.headers.emplace_back("Location", "/v1/webhooks/" + (*added)->id.to_string());
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

Awaitable<HttpResponse> get_webhook(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const Parsed<WebhookRef> webhook = path_webhook(context, request);
  if (!webhook) {
    co_return render(webhook.error());
  }
  auto pending = show_webhook(context, *webhook);
  co_return co_await std::move(pending);
}

Awaitable<HttpResponse> update_webhook(Context context, HttpRequest request) {
  const Parsed<WebhookRef> current = path_webhook(context, request);
  if (!current) {
    co_return render(current.error());
  }
  Parsed<std::vector<JsonMember>> members = read_body(request);
  if (!members) {
    co_return render(members.error());
  }
  const ApiOptions& options = *context.options;
  const WebhookRules rules{options.url_policy, options.webhook_defaults, /*creating=*/false};
  Webhook trial = **current;
  std::string fields = name_fields(*members);
  if (const std::optional<Problem> problem = merge(*std::move(members), rules, trial)) {
    co_return render(*problem);
  }

  auto problem = std::make_shared<std::optional<Problem>>();
  Service::WebhookEdit edit = make_edit(context, request.body, problem);
  AuditEntry entry = audit_entry(context, {.action = "webhook.update",
                                           .subject = (*current)->id.to_string(),
                                           .tenant_id = (*current)->tenant_id,
                                           .detail = std::move(fields)});
  auto pending = context.service->edit_webhook((*current)->id, std::move(edit), std::move(entry));
  const Result<WebhookRef> changed = co_await std::move(pending);
  const std::optional<Problem>& refused = *problem;
  if (refused) {
    co_return render(*refused);
  }
  if (!changed) {
    co_return render(to_problem(changed.error()));
  }
  auto shown = show_changed_webhook(context, *changed);
  co_return co_await std::move(shown);
}

Awaitable<HttpResponse> delete_webhook(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const Parsed<WebhookRef> webhook = path_webhook(context, request);
  if (!webhook) {
    co_return render(webhook.error());
  }
  const WebhookId id = (*webhook)->id;
  AuditEntry entry = audit_entry(
      context,
      {.action = "webhook.delete", .subject = id.to_string(), .tenant_id = (*webhook)->tenant_id});
  auto pending = context.service->remove_webhook(id, std::move(entry));
  const Result<void> removed = co_await std::move(pending);
  if (!removed && removed.error().code == Errc::not_found) {
    co_return render(not_found("webhook", id.to_string()));
  }
  if (!removed) {
    co_return render(to_problem(removed.error()));
  }
  co_return HttpResponse{.status = 204, .content_type = "", .headers = {}, .body = {}};
}

}  // namespace postrider::api
