#include "api/resources/webhook_draft.h"

#include <utility>

#include "core/request/secret_text.h"

#include "api/resources/publishing.h"

namespace postrider::api {
namespace {

/// True if the secret was replaced. Another scheme may store the same secret differently.
bool has_new_secret(const Webhook& webhook, Webhook before) {
  const SignatureScheme scheme_before = before.signature.scheme;
  before.signature.scheme = webhook.signature.scheme;
  return !adapt_secrets(scheme_before, before) || webhook.secret != before.secret;
}

}  // namespace

std::function<WebhookCaps(const TenantId&)> current_caps(const Context& context) {
  return [access = context.services.snapshots.access(),
          options = context.options](const TenantId& tenant_id) {
    return caps_of(access->limits_of(tenant_id), options->webhook_caps);
  };
}

Parsed<void> merge_webhook(std::vector<JsonMember> members, const WebhookRules& rules,
                           WebhookDraft& draft) {
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  draft.verification = read_verification_request(reader);
  read_webhook(reader, rules, draft.webhook);
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return {};
}

void set_times(Webhook& webhook, const Webhook& before, WallTime now) {
  if (has_new_secret(webhook, before)) {
    webhook.secret_set_at = now;
  }
  if (!webhook.active && !webhook.disabled_at) {
    webhook.disabled_at = now;
  }
}

Parsed<WebhookDraft> draft_new_webhook(const Context& context, std::vector<JsonMember> members) {
  const ApiOptions& options = *context.options;
  WebhookDraft draft{.webhook = options.webhook_defaults, .verification = {}};
  Webhook& webhook = draft.webhook;
  webhook.id = WebhookId{context.services.ids.new_uuid()};
  webhook.created_at = context.services.clock.now().wall;
  webhook.updated_at = webhook.created_at;
  webhook.secret_set_at = webhook.created_at;
  webhook.tenant_id = context.caller.tenant_id.value_or(TenantId{});
  const WebhookRules rules{options.url_policy, options.webhook_defaults,
                           /*creating=*/true,  context.caller.tenant_id,
                           webhook.created_at, current_caps(context)};
  POSTRIDER_CHECK(merge_webhook(std::move(members), rules, draft));
  POSTRIDER_CHECK(check_tenant_known(context, webhook.tenant_id));
  set_times(webhook, webhook, webhook.created_at);
  return draft;
}

Parsed<WebhookDraft> draft_changed_webhook(const Context& context, const Webhook& current,
                                           std::vector<JsonMember> members) {
  const ApiOptions& options = *context.options;
  const WebhookRules rules{options.url_policy,
                           options.webhook_defaults,
                           /*creating=*/false,
                           std::nullopt,
                           context.services.clock.now().wall,
                           current_caps(context)};
  WebhookDraft draft{.webhook = current, .verification = {}};
  POSTRIDER_CHECK(merge_webhook(std::move(members), rules, draft));
  return draft;
}

}  // namespace postrider::api
