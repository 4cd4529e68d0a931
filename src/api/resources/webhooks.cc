#include <algorithm>
#include <memory>

#include "api/json/json_body.h"
#include "api/json/query_reader.h"
#include "api/json/webhook_json.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"
#include "api/resources/secret_generator.h"
#include "api/resources/verification.h"
#include "api/resources/webhook_answer.h"
#include "api/resources/webhook_draft.h"

namespace postrider::api {
namespace {

/// Verifies the URL if the request or the server asks for it. Returns why it failed, or nullopt.
/// Fails if the verification is required.
Awaitable<Parsed<std::optional<std::string>>> verify_url(Context context, WebhookDraft draft,
                                                         bool url_is_new) {
  const bool required = draft.verification.require || context.options->require_verification;
  const bool wanted = draft.verification.verify || draft.verification.require ||
                      (context.options->require_verification && url_is_new);
  if (!wanted) {
    co_return std::optional<std::string>{};
  }
  POSTRIDER_CO_CHECK(check_not_suspended(context.services.snapshots, draft.webhook.tenant_id));
  auto pending = verify(context, std::move(draft.webhook));
  const Parsed<std::optional<std::string>> fault = co_await std::move(pending);
  if (!fault) {
    co_return tl::make_unexpected(fault.error());
  }
  if (*fault && required) {
    co_return tl::make_unexpected(verification_failed(**fault));
  }
  co_return *fault;
}

Parsed<WebhookDraft> read_new_webhook(const Context& context, const HttpRequest& request) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  POSTRIDER_TRY(WebhookDraft draft, draft_new_webhook(context, std::move(members)));
  Webhook& webhook = draft.webhook;
  if (webhook.secret.reveal().empty()) {
    webhook.secret = make_secret(*context.options, webhook.signature.scheme);
  }
  return draft;
}

/// The lane of a webhook that has just been created. Its shard may not know it yet.
LaneView view_new_lane(const Webhook& webhook) {
  Breaker breaker;
  if (webhook.breaker.force_open_until) {
    breaker.force_open(webhook.created_at, webhook.breaker.force_open_until);
  }
  LaneView view;
  view.circuit = breaker.record();
  return view;
}

Problem over_webhook_quota(const Error& error) {
  return {
      .status = 429,
      .code = "webhook_quota_exceeded",
      .title = "The tenant's webhook limit is reached",
      .detail = error.message +
                " Delete a webhook, or raise `webhooks_max` with PUT /v1/tenants/{id}/limits or "
                "the setting `limits.webhooks_per_tenant`.",
      .errors = {}};
}

/// A conflict means that a notification channel owns the webhook.
Problem change_problem(const Error& error, WebhookId id) {
  return error.code == Errc::conflict ? conflict("webhook_of_channel", error.message)
                                      : to_problem(error, "webhook", id.to_string());
}

/// The names of the changed members, for the audit log. Values may be secret.
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
  std::optional<std::string> fault;      // Why the URL could not be verified.
  std::shared_ptr<Parsed<void>> merged;  // Set by the edit.
};

/// An edit for the store thread. The body was merged into the webhook once to check it. Another
/// change may have been stored since, so this merges it again; the result goes to `merged`.
WebhookEdit make_edit(const Context& context, EditParts parts) {
  const WallTime now = context.services.clock.now().wall;
  return [options = context.options, parts = std::move(parts), caps = current_caps(context),
          now](const Webhook& current) -> Result<Webhook> {
    POSTRIDER_TRY(std::vector<JsonMember> members, read_json_object(parts.body));
    WebhookDraft draft{.webhook = current, .verification = {}};
    const WebhookRules rules{options->url_policy,
                             options->webhook_defaults,
                             /*creating=*/false,
                             std::nullopt,
                             now,
                             caps};
    *parts.merged = merge_webhook(std::move(members), rules, draft);
    if (!*parts.merged) {
      return fail(Errc::invalid, parts.merged->error().detail);
    }
    Webhook& changed = draft.webhook;
    if (parts.fault) {
      switch_off(changed, parts.fault, now);
    }
    set_times(changed, current, now);
    changed.updated_at = std::max(now, current.updated_at);
    return changed;
  };
}

}  // namespace

Awaitable<Reply> create_webhook(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(WebhookDraft draft, read_new_webhook(context, request));
  auto trying = verify_url(context, draft, /*url_is_new=*/true);
  const Parsed<std::optional<std::string>> fault = co_await std::move(trying);
  if (!fault) {
    co_return tl::make_unexpected(fault.error());
  }
  Webhook webhook = std::move(draft.webhook);
  if (*fault) {
    switch_off(webhook, *fault, webhook.created_at);
  }
  AuditEntry entry = audit_entry(context, {.action = "webhook.create",
                                           .subject = webhook.id.to_string(),
                                           .tenant_id = webhook.tenant_id});
  auto pending = context.services.webhooks.add_webhook(std::move(webhook), std::move(entry),
                                                       context.request_key);
  const Result<WebhookRef> added = co_await std::move(pending);
  if (!added && added.error().code == Errc::conflict) {
    co_return tl::make_unexpected(over_webhook_quota(added.error()));
  }
  if (!added) {
    co_return tl::make_unexpected(to_problem(added.error()));
  }
  const LaneView fresh = view_new_lane(**added);
  std::string body;
  JsonWriter writer{body};
  write_webhook(writer, **added,
                {.lane = &fresh,
                 .with_secret = true,
                 .public_key = public_key(*context.options->crypto, (*added)->signature.scheme,
                                          (*added)->secret)});
  HttpResponse response = json_answer(201, std::move(body));
  response.headers.emplace_back("Location", "/v1/webhooks/" + (*added)->id.to_string());
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

Awaitable<Reply> get_webhook(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  auto pending = show_webhook(context, webhook);
  co_return co_await std::move(pending);
}

Awaitable<Reply> update_webhook(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const WebhookRef current, path_webhook(context.services.snapshots, request));
  POSTRIDER_CO_TRY(std::vector<JsonMember> members, read_body(request));
  std::string fields = name_fields(members);
  POSTRIDER_CO_TRY(WebhookDraft trial,
                   draft_changed_webhook(context, *current, std::move(members)));
  const bool url_is_new = trial.webhook.url != current->url;
  auto trying = verify_url(context, std::move(trial), url_is_new);
  const Parsed<std::optional<std::string>> fault = co_await std::move(trying);
  if (!fault) {
    co_return tl::make_unexpected(fault.error());
  }

  const auto merged = std::make_shared<Parsed<void>>();
  WebhookEdit edit = make_edit(context, {.body = request.body, .fault = *fault, .merged = merged});
  AuditEntry entry = audit_entry(context, {.action = "webhook.update",
                                           .subject = current->id.to_string(),
                                           .tenant_id = current->tenant_id,
                                           .detail = std::move(fields)});
  auto pending = context.services.webhooks.edit_webhook(current->id, std::move(edit),
                                                        std::move(entry), std::nullopt);
  const Result<WebhookRef> changed = co_await std::move(pending);
  POSTRIDER_CO_CHECK(*merged);
  if (!changed) {
    co_return tl::make_unexpected(change_problem(changed.error(), current->id));
  }
  auto shown = show_changed_webhook(context, *changed, *current);
  co_return co_await std::move(shown);
}

Awaitable<Reply> delete_webhook(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  const WebhookId id = webhook->id;
  AuditEntry entry = audit_entry(
      context,
      {.action = "webhook.delete", .subject = id.to_string(), .tenant_id = webhook->tenant_id});
  auto pending = context.services.webhooks.remove_webhook(id, std::move(entry));
  const Result<void> removed = co_await std::move(pending);
  if (!removed) {
    co_return tl::make_unexpected(change_problem(removed.error(), id));
  }
  co_return HttpResponse{.status = 204, .content_type = "", .headers = {}, .body = {}};
}

}  // namespace postrider::api
