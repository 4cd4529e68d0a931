// A webhook as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/webhook.h"
#include "core/net/target_url.h"
#include "core/policy/breaker.h"
#include "engine/shard/shard.h"

#include "api/json/field_reader.h"
#include "api/json/json_writer.h"

namespace postrider::api {

struct WebhookRules {
  const UrlPolicy& url_policy;
  const Webhook& defaults;
  bool creating = false;  // `url` and `events` are required, `tenant_id` may be set.
  std::optional<TenantId> tenant_id =
      std::nullopt;  // Of a caller who has one: no other may be set.
};

/// Merges a body into `webhook`; mistakes go to the reader's errors, and `webhook` is then of no
/// use.
void read_webhook(ObjectReader& reader, const WebhookRules& rules, Webhook& webhook);

/// The member `secret`, when it is there.
void read_secret(ObjectReader& reader, Webhook& webhook);

/// What a receiver verifies an asymmetric signature with; null for the other schemes.
[[nodiscard]] std::optional<std::string> public_key(SignatureScheme scheme,
                                                    const Secret<std::string>& secret);

/// What is known of a webhook beyond its settings. Null pointers are shown as null.
struct WebhookStanding {
  const LaneView* lane = nullptr;
  std::optional<WallTime> last_success_at = std::nullopt;
  std::optional<WallTime> last_failure_at = std::nullopt;
  bool with_secret = false;  // Only in the answer to its creation.
  /// Just switched on again: what it missed since then can be replayed.
  std::optional<WallTime> replay_since = std::nullopt;
};

void write_webhook(JsonWriter& writer, const Webhook& webhook, const WebhookStanding& standing);
void write_circuit(JsonWriter& writer, const CircuitRecord& circuit);

/// The member `tenant_id`, null for the default tenant.
void write_tenant(JsonWriter& writer, const TenantId& tenant_id);

}  // namespace postrider::api
