#include <algorithm>
#include <memory>

#include "core/request/signature.h"

#include "adapters/openssl/digest.h"
#include "api/json/json_body.h"
#include "api/json/query_reader.h"
#include "api/json/webhook_json.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"
#include "api/resources/verification.h"
#include "api/resources/webhook_answer.h"

namespace postrider::api {
namespace {

/// A webhook as a body wants it.
struct Draft {
  Webhook webhook;
  VerificationRequest wanted;
};

/// Merges the members into the draft, or says what is wrong with them.
std::optional<Problem> merge(std::vector<JsonMember> members, const WebhookRules& rules,
                             Draft& draft) {
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  draft.wanted = read_verification_request(reader);
  read_webhook(reader, rules, draft.webhook);
  return errors.empty() ? std::nullopt : std::optional{errors.problem()};
}

/// Notes the times of what the merge changed.
void stamp(Webhook& webhook, const Secret<std::string>& secret_before, WallTime now) {
  if (webhook.secret != secret_before) {
    webhook.secret_set_at = now;
  }
  if (!webhook.active && !webhook.disabled_at) {
    webhook.disabled_at = now;
  }
}

/// Tries the URL out when somebody wants that. The sentence says why it failed; an error is the
/// answer to give instead.
Awaitable<Parsed<std::optional<std::string>>> try_url(Context context, Draft draft,
                                                      bool url_is_new) {
  const bool required = draft.wanted.require || context.options->require_verification;
  const bool wanted = draft.wanted.verify || draft.wanted.require ||
                      (context.options->require_verification && url_is_new);
  if (!wanted) {
    co_return std::optional<std::string>{};
  }
  auto pending = verify(context, std::move(draft.webhook));
  const Result<std::optional<std::string>> fault = co_await std::move(pending);
  if (!fault) {
    co_return tl::make_unexpected(to_problem(fault.error()));
  }
  if (*fault && required) {
    co_return tl::make_unexpected(verification_failed(**fault));
  }
  co_return *fault;
}

Parsed<Draft> read_new_webhook(const Context& context, const HttpRequest& request) {
  Parsed<std::vector<JsonMember>> members = read_body(request);
  if (!members) {
    return tl::make_unexpected(members.error());
  }
  const ApiOptions& options = *context.options;
  Draft draft{.webhook = options.webhook_defaults, .wanted = {}};
  Webhook& webhook = draft.webhook;
  webhook.id = WebhookId{context.service->new_uuid()};
  webhook.secret = Secret{random_bytes(secret_bytes_made)};
  webhook.created_at = context.service->now().wall;
  webhook.updated_at = webhook.created_at;
  webhook.secret_set_at = webhook.created_at;
  webhook.tenant_id = context.caller.tenant_id.value_or(TenantId{});
  const WebhookRules rules{options.url_policy, options.webhook_defaults, /*creating=*/true,
                           context.caller.tenant_id};
  if (std::optional<Problem> problem = merge(*std::move(members), rules, draft)) {
    return tl::make_unexpected(*std::move(problem));
  }
  if (std::optional<Problem> problem = unknown_tenant(context, webhook.tenant_id)) {
    return tl::make_unexpected(*std::move(problem));
  }
  stamp(webhook, webhook.secret, webhook.created_at);
  return draft;
}

Problem over_webhook_quota(const Error& error) {
  return {.status = 429,
          .code = "webhook_quota_exceeded",
          .title = "The tenant has as many webhooks as it may have",
          .detail = error.message +
                    " Delete one that it no longer needs, or have its `webhooks_max` raised with "
                    "PUT /v1/tenants/{id}/limits.",
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

struct EditParts {
  std::string body;
  std::optional<std::string> fault;                 // The URL could not be verified.
  std::shared_ptr<std::optional<Problem>> problem;  // What went wrong in the edit.
};

/// An edit for the store thread. The body was accepted for the webhook as it stood a moment ago;
/// another change may have come in between, so it is merged once more and can still fail: into
/// `problem`.
Service::WebhookEdit make_edit(const Context& context, EditParts parts) {
  const WallTime now = context.service->now().wall;
  return [options = context.options, parts = std::move(parts),
          now](const Webhook& current) -> Result<Webhook> {
    POSTRIDER_TRY(std::vector<JsonMember> members, read_json_object(parts.body));
    Draft draft{.webhook = current, .wanted = {}};
    const WebhookRules rules{options->url_policy, options->webhook_defaults, /*creating=*/false};
    std::optional<Problem>& problem = *parts.problem;
    problem = merge(std::move(members), rules, draft);
    if (problem) {
      return fail(Errc::invalid, problem->detail);
    }
    Webhook& changed = draft.webhook;
    if (parts.fault) {
      switch_off(changed, parts.fault, now);
    }
    stamp(changed, current.secret, now);
    changed.updated_at = std::max(now, current.updated_at);
    return changed;
  };
}

}  // namespace

Awaitable<HttpResponse> create_webhook(Context context, HttpRequest request) {
  Parsed<Draft> draft = read_new_webhook(context, request);
  if (!draft) {
    co_return render(draft.error());
  }
  auto trying = try_url(context, *draft, /*url_is_new=*/true);
  const Parsed<std::optional<std::string>> fault = co_await std::move(trying);
  if (!fault) {
    co_return render(fault.error());
  }
  Webhook webhook = std::move(draft->webhook);
  if (*fault) {
    switch_off(webhook, *fault, webhook.created_at);
  }
  AuditEntry entry = audit_entry(context, {.action = "webhook.create",
                                           .subject = webhook.id.to_string(),
                                           .tenant_id = webhook.tenant_id});
  auto pending = context.service->add_webhook(std::move(webhook), std::move(entry));
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
  Draft trial{.webhook = **current, .wanted = {}};
  std::string fields = name_fields(*members);
  if (const std::optional<Problem> problem = merge(*std::move(members), rules, trial)) {
    co_return render(*problem);
  }
  const bool url_is_new = trial.webhook.url != (*current)->url;
  auto trying = try_url(context, std::move(trial), url_is_new);
  const Parsed<std::optional<std::string>> fault = co_await std::move(trying);
  if (!fault) {
    co_return render(fault.error());
  }

  auto problem = std::make_shared<std::optional<Problem>>();
  Service::WebhookEdit edit =
      make_edit(context, {.body = request.body, .fault = *fault, .problem = problem});
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
  auto shown = show_changed_webhook(context, *changed, **current);
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
