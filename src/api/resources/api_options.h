// What the operator configured for the API, and what main wires in. A reload replaces all of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/access.h"
#include "core/model/webhook.h"
#include "core/net/address.h"
#include "core/net/target_url.h"
#include "core/policy/token_bucket.h"
#include "core/policy/webhook_caps.h"
#include "core/request/secret_text.h"
#include "ports/crypto.h"
#include "ports/schema_check.h"

#include "runtime/delivery/target.h"

namespace postrider::api {

class Dashboard;

/// A row of GET /v1/settings.
struct SettingInForce {
  std::string name;
  std::string value;                                 // JSON. Never a secret.
  std::string default_value;                         // JSON.
  std::string origin;                                // default, profile, file, environment or flag.
  std::optional<std::string> detail = std::nullopt;  // Which of them: `postrider.toml:12`.
  std::string description;
  bool reloads = false;  // SIGHUP applies a change; otherwise it takes a restart.
};

struct ApiOptions {
  UrlPolicy url_policy;
  Webhook webhook_defaults;  // Policies of a webhook that does not state its own.
  std::size_t data_bytes_max = std::size_t{256} * 1024;  // Of one event's data.
  Millis idempotency_window = std::chrono::hours{24};
  Millis stream_heartbeat = std::chrono::seconds{15};  // Shorter than what proxies wait.
  // True: a repeated publish is a conflict while the first one is still being delivered.
  bool refuse_in_progress = false;
  // True: the key of an event without one is SHA-256 of its resource, type and timestamp.
  bool derive_keys = false;
  std::optional<RateLimit> key_rate;      // Requests of one API key.
  std::optional<RateLimit> address_rate;  // Requests of one address that carry no valid key.
  // True: /metrics needs no key if client and Host are on this machine. Otherwise it does.
  bool open_metrics = true;
  bool require_known_tenants = false;  // Refuse events and webhooks of unregistered tenants.
  std::string public_url;  // Where people reach this server. Empty: the listener's address.
  bool tls = false;        // The listener speaks TLS.
  Branding branding = {};  // Of sessions without their own.
  Millis key_session = std::chrono::hours{12};  // The length of a session opened with a key.
  // Where it listens. The default is every address.
  IpAddress listen_address = {};
  std::size_t body_bytes_max = std::size_t{16} * 1024 * 1024;  // Of a batch of events.
  bool require_known_event_types = false;  // Refuse events whose type is not in the catalogue.
  MakeSchemaCheck make_schema_check = {};  // From wiring. Empty: schemas are refused.
  const Crypto* crypto = nullptr;          // From wiring; must be set.
  MakeSign make_sign = {};                 // From wiring; must be set.
  bool require_verification = false;       // Store a URL only if its receiver echoes a challenge.
  // Of a generated secret, for the schemes whose secrets are text.
  std::size_t secret_text_length = secret_text_length_default;
  WebhookCaps webhook_caps = {};               // Of tenants without limits of their own.
  bool secrets_sealed = false;                 // The server has a key to seal secrets with.
  std::string user_agent = "Postrider/0.1.0";  // As sent, so that a delivery can show its request.
  std::shared_ptr<const Dashboard> dashboard = nullptr;  // From wiring. Null: built without it.
  std::vector<std::string> frame_ancestors = {"none"};   // See ui/dashboard.h.
  std::vector<SettingInForce> settings = {};             // For GET /v1/settings.
};

}  // namespace postrider::api
