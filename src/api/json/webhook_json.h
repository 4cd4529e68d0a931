// Reads and writes a webhook as JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/webhook.h"
#include "core/net/target_url.h"
#include "core/policy/breaker.h"
#include "core/policy/webhook_caps.h"
#include "engine/shard/shard_view.h"
#include "ports/crypto.h"
#include "ports/history.h"

#include "api/json/field_reader.h"
#include "api/json/json_writer.h"

namespace postrider::api {

struct WebhookRules {
  const UrlPolicy& url_policy;
  const Webhook& defaults;
  bool creating = false;  // `url` and `events` are required, `tenant_id` may be set.
  // The tenant of the API key, if it has one. No other tenant may be set.
  std::optional<TenantId> tenant_id = std::nullopt;
  WallTime now{};
  // The caps of a tenant's webhooks. Empty: there are none.
  std::function<WebhookCaps(const TenantId&)> caps_of = {};
};

/// Merges a body into `webhook`. A webhook that is created gets no secret here unless the body has
/// one. If a body changes the signature scheme, the text of the secrets is kept. Errors go to the
/// reader; if there are any, discard `webhook`.
void read_webhook(ObjectReader& reader, const WebhookRules& rules, Webhook& webhook);

/// Reads the field `secret`, if present, by the rules of the webhook's signature scheme.
void read_secret(ObjectReader& reader, Webhook& webhook);

/// The key with which a receiver verifies an asymmetric signature. Returns nullopt for the other
/// schemes.
[[nodiscard]] std::optional<std::string> public_key(const Crypto& crypto, SignatureScheme scheme,
                                                    const Secret<std::string>& secret);

/// What the JSON of a webhook contains besides its settings. Unset values are written as null.
struct WebhookDetails {
  const LaneView* lane = nullptr;
  LatestResults latest = {};
  bool with_secret = false;  // Set only in the response to the creation.
  std::optional<std::string> public_key = std::nullopt;
  /// Set if the webhook has just been switched on: the events since then can be replayed.
  std::optional<WallTime> replay_since = std::nullopt;
};

void write_webhook(JsonWriter& writer, const Webhook& webhook, const WebhookDetails& details);
void write_circuit(JsonWriter& writer, const CircuitRecord& circuit);
/// The same with what the circuit counts and when it probes.
void write_circuit_detail(JsonWriter& writer, const LaneView& lane);

/// Writes the member `tenant_id`. It is null for the default tenant.
void write_tenant_id(JsonWriter& writer, const TenantId& tenant_id);

}  // namespace postrider::api
