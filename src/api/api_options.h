// What the operator decided about the API. Plain values, fixed at start-up.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "core/target_url.h"
#include "core/time.h"
#include "core/webhook.h"

namespace postrider::api {

struct ApiOptions {
  UrlPolicy url_policy;
  Webhook webhook_defaults;  // Policies of a webhook that does not state its own.
  std::size_t data_bytes_max =
      std::size_t{256} * 1024;  // Of one event's data; larger is answered 413.
  Millis idempotency_window = std::chrono::hours{24};
  bool open_metrics = true;  // Scrapers seldom carry a key. False: /metrics asks for one as well.
  bool require_known_tenants = false;  // Events and webhooks only for tenants that are registered.
  std::string public_url;  // Where people reach this server; empty: as the request names it.
  bool require_verification = false;  // A URL is stored only when its receiver echoes a challenge.
  bool secrets_sealed = false;        // There is a key that secrets are sealed with.
  std::string user_agent = "Postrider/0.1.0";  // As sent, so that a delivery can show its request.
};

}  // namespace postrider::api
