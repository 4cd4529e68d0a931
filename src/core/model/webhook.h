// A registered receiver: its URL, the events it subscribes to, its secrets and its policies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/secret.h"
#include "core/base/time.h"
#include "core/filter/event_pattern.h"
#include "core/filter/filter.h"
#include "core/model/attempt.h"
#include "core/model/event.h"
#include "core/policy/breaker.h"
#include "core/policy/retry.h"
#include "core/policy/token_bucket.h"
#include "core/request/payload_format.h"
#include "core/request/signature.h"

namespace postrider {

enum class Ordering : std::uint8_t { none, per_event_type, strict };

[[nodiscard]] std::string_view to_string(Ordering ordering);
[[nodiscard]] std::optional<Ordering> parse_ordering(std::string_view text);

/// A secret that was replaced. Requests are signed with it as well, until `ends_at` (exclusive).
struct OldSecret {
  Secret<std::string> key;
  WallTime ends_at;

  bool operator==(const OldSecret&) const = default;
};

struct Webhook {
  WebhookId id;
  TenantId tenant_id;
  std::string url;  // As the caller wrote it. Passed parse_target_url when it was stored.
  std::vector<EventPattern> events;
  std::optional<Filter> filter;  // On the content of the event.
  std::optional<std::string> name;
  std::optional<std::string> owner_id;
  std::optional<std::string> owner_email;  // Who is told about its alerts. See email_address.h.
  std::optional<std::string> resource_id;
  std::optional<std::string> description;
  Headers headers;
  std::string metadata = "{}";  // A JSON object, verbatim.
  Secret<std::string> secret;   // The key, or the text of it: see core/request/secret_text.h.
  WallTime secret_set_at;
  std::vector<OldSecret> old_secrets;  // Newest first. May include ended ones: see live_secrets.
  SignaturePolicy signature;
  PayloadFormat payload_format = PayloadFormat::standard;
  PayloadForm payload_form = PayloadForm::verbatim;
  RetryPolicy retry;
  BreakerPolicy breaker;
  std::optional<RateLimit> rate_limit;
  std::uint32_t max_in_flight = 5;
  Ordering ordering = Ordering::none;
  bool active = true;
  bool paused = false;
  std::optional<std::string> disabled_reason;  // None if a person switched it off.
  std::optional<WallTime> disabled_at;         // Set only if not active.
  WallTime created_at;
  WallTime updated_at;

  bool operator==(const Webhook&) const = default;
};

/// True if the webhook subscribes to the event. Checks active, tenant, resource, patterns and,
/// last, the filter. Nobody subscribes to events of reserved types. A paused webhook still gets the
/// event; its deliveries wait.
[[nodiscard]] bool wants(const Webhook& webhook, const Event& event);

/// `switch_off` records when and why, unless the webhook is already inactive. `switch_on` clears
/// both.
void switch_off(Webhook& webhook, std::optional<std::string> reason, WallTime now);
void switch_on(Webhook& webhook);

}  // namespace postrider
