// What the operator decided about the API. Plain values; a reload replaces them as a whole.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "core/base/time.h"
#include "core/model/webhook.h"
#include "core/net/target_url.h"
#include "core/policy/token_bucket.h"
#include "ports/schema_check.h"

namespace postrider::api {

struct ApiOptions {
  UrlPolicy url_policy;
  Webhook webhook_defaults;  // Policies of a webhook that does not state its own.
  std::size_t data_bytes_max =
      std::size_t{256} * 1024;  // Of one event's data; larger is answered 413.
  Millis idempotency_window = std::chrono::hours{24};
  Millis stream_heartbeat = std::chrono::seconds{15};  // Shorter than what proxies wait.
  // An event without a key that has a resource and a timestamp gets SHA-256 of both and its type.
  bool derive_keys = false;
  std::optional<RateLimit> key_rate;      // Requests of one API key.
  std::optional<RateLimit> address_rate;  // Requests of one address that carry no valid key.
  bool open_metrics = true;  // Scrapers seldom carry a key. False: /metrics asks for one as well.
  bool require_known_tenants = false;  // Events and webhooks only for tenants that are registered.
  std::string public_url;  // Where people reach this server; empty: as the request names it.
  bool require_known_event_types = false;  // True: a type must be in the catalogue.
  MakeSchemaCheck make_schema_check = {};  // From wiring. Empty: schemas are refused.
  bool require_verification = false;  // A URL is stored only when its receiver echoes a challenge.
  bool secrets_sealed = false;        // There is a key that secrets are sealed with.
  std::string user_agent = "Postrider/0.1.0";  // As sent, so that a delivery can show its request.
};

}  // namespace postrider::api
