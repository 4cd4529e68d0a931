// Reads the webhook that a request describes: a new one, or a change of an existing one.
#pragma once

#include <vector>

#include "core/json/json_text.h"
#include "core/model/webhook.h"

#include "api/json/webhook_json.h"
#include "api/resources/context.h"
#include "api/resources/verification.h"

namespace postrider::api {

struct WebhookDraft {
  Webhook webhook;
  VerificationRequest verification;
};

/// How the limits of tenants cap their webhooks at the moment.
[[nodiscard]] std::function<WebhookCaps(const TenantId&)> current_caps(const Context& context);

/// Merges the members into the draft. Fails with 422.
[[nodiscard]] Parsed<void> merge_webhook(std::vector<JsonMember> members, const WebhookRules& rules,
                                         WebhookDraft& draft);

/// Sets the times of what the merge changed.
void set_times(Webhook& webhook, const Webhook& before, WallTime now);

/// A new webhook with all defaults. It has no secret unless the members have one.
[[nodiscard]] Parsed<WebhookDraft> draft_new_webhook(const Context& context,
                                                     std::vector<JsonMember> members);

/// `current` with the members merged into it.
[[nodiscard]] Parsed<WebhookDraft> draft_changed_webhook(const Context& context,
                                                         const Webhook& current,
                                                         std::vector<JsonMember> members);

}  // namespace postrider::api
