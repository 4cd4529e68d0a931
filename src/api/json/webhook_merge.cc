// Implements read_webhook() and read_secret() of webhook_json.h.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/net/header_rules.h"
#include "core/policy/secret_rotation.h"
#include "core/request/secret_text.h"

#include "api/json/email_json.h"
#include "api/json/headers_and_metadata.h"
#include "api/json/policy_json.h"
#include "api/json/webhook_json.h"
#include "api/resources/tenant_text.h"

namespace postrider::api {
namespace {

constexpr TextRule name_rule{.bytes_max = 256, .multiline = false};
constexpr TextRule description_rule{.bytes_max = 4096, .multiline = true};
constexpr IntegerRange patterns_range{1, 100};

constexpr std::array<std::string_view, 12> server_fields = {
    "id",      "created_at",   "updated_at",      "last_success_at", "last_failure_at",
    "circuit", "paused",       "disabled_reason", "disabled_at",     "public_key",
    "replay",  "secret_set_at"};

void read_url(ObjectReader& reader, const WebhookRules& rules, Webhook& webhook) {
  JsonField<std::string> url =
      reader.text("url", {.bytes_max = url_length_max, .multiline = false});
  if (url.is_null() || (!reader.raw("url") && rules.creating)) {
    reader.refuse("url", "is required.");
  }
  if (!url.value) {
    return;
  }
  if (const Result<TargetUrl> target = parse_target_url(*url.value, rules.url_policy); !target) {
    reader.refuse("url", "is not acceptable: " + target.error().message);
    return;
  }
  webhook.url = *std::move(url.value);
}

void read_events(ObjectReader& reader, const WebhookRules& rules, Webhook& webhook) {
  const JsonField<std::vector<std::string_view>> items = reader.array("events", patterns_range);
  if (items.is_null() || (!reader.raw("events") && rules.creating)) {
    reader.refuse("events", "is required: an array of 1 to 100 event types or patterns.");
  }
  if (!items.value) {
    return;
  }
  std::vector<EventPattern> patterns;
  for (std::size_t index = 0; index < items.value->size(); ++index) {
    const std::optional<std::string> text = decode_json_string((*items.value)[index]);
    std::optional<EventPattern> pattern = text ? EventPattern::parse(*text) : std::nullopt;
    if (!pattern) {
      reader.refuse(fmt::format("events[{}]", index),
                    "must be an event type (order.created), a pattern (order.*) or *.");
      return;
    }
    if (is_reserved_type(*text)) {
      reader.refuse(fmt::format("events[{}]", index),
                    "must not begin with `postrider.`: such events are sent to notification "
                    "channels only. Create one with POST /v1/notification-channels.");
      return;
    }
    patterns.push_back(*std::move(pattern));
  }
  webhook.events = std::move(patterns);
}

void read_filter(ObjectReader& reader, Webhook& webhook) {
  const std::optional<std::string_view> raw = reader.raw("filter");
  if (!raw) {
    return;
  }
  if (*raw == "null") {
    webhook.filter.reset();
    return;
  }
  tl::expected<Filter, FilterFault> filter = Filter::parse(*raw);
  if (!filter) {
    const FilterFault& fault = filter.error();
    reader.refuse_at(fault.path.empty() ? "filter" : "filter." + fault.path, fault.message);
    return;
  }
  webhook.filter = *std::move(filter);
}

void read_tenant(ObjectReader& reader, const WebhookRules& rules, Webhook& webhook) {
  // An update may repeat an id that was stored under older, laxer rules.
  const JsonField<std::string> tenant =
      rules.creating ? read_tenant_id(reader, "tenant_id") : reader.text("tenant_id", name_rule);
  if (!tenant.present) {
    return;
  }
  const TenantId requested = tenant.value.value_or(rules.tenant_id.value_or(TenantId{}));
  if (rules.tenant_id && requested != *rules.tenant_id) {
    reader.refuse("tenant_id", "must be omitted or be the tenant of this API key.");
    return;
  }
  if (!rules.creating && requested != webhook.tenant_id) {
    reader.refuse("tenant_id", "cannot be changed. Create a webhook for the other tenant.");
    return;
  }
  webhook.tenant_id = requested;
}

void read_policies(ObjectReader& reader, const WebhookRules& rules, Webhook& webhook) {
  const Webhook& defaults = rules.defaults;
  if (JsonField<ObjectReader> retry = reader.object("retry_config"); retry.value) {
    read_retry(*retry.value, defaults.retry, webhook.retry);
  } else if (retry.present) {
    webhook.retry = defaults.retry;
  }
  if (JsonField<ObjectReader> breaker = reader.object("circuit_breaker_config"); breaker.value) {
    read_breaker(*breaker.value, defaults.breaker, rules.now, webhook.breaker);
  } else if (breaker.present) {
    webhook.breaker = defaults.breaker;
  }
  if (JsonField<ObjectReader> limit = reader.object("rate_limit"); limit.value) {
    read_rate_limit(*limit.value, webhook.rate_limit);
  } else if (limit.present) {
    webhook.rate_limit = defaults.rate_limit;
  }
  if (JsonField<ObjectReader> signature = reader.object("signature"); signature.value) {
    read_signature(*signature.value, defaults.signature, webhook.signature);
  } else if (signature.present) {
    webhook.signature = defaults.signature;
  }
}

void read_payload(ObjectReader& reader, const Webhook& defaults, Webhook& webhook) {
  if (JsonField<ObjectReader> payload = reader.object("payload"); payload.value) {
    assign(payload.value->choice("form", parse_payload_form, "verbatim, compact, sorted"),
           webhook.payload_form, defaults.payload_form);
    payload.value->finish();
  } else if (payload.present) {
    webhook.payload_form = defaults.payload_form;
  }
}

/// True if the body has a `retry_config.timeout_ms` other than null.
bool has_retry_timeout(ObjectReader& reader) {
  const std::optional<std::string_view> retry = reader.raw("retry_config");
  if (!retry || *retry == "null") {
    return false;
  }
  const Result<std::vector<JsonMember>> members = read_json_object(*retry);
  return members && std::ranges::any_of(*members, [](const JsonMember& member) {
           return member.key == "timeout_ms" && member.value != "null";
         });
}

/// `timeout_ms` is an alias of `retry_config.timeout_ms`. Call after the retry policy has been
/// read.
void read_timeout(ObjectReader& reader, const Webhook& defaults, Webhook& webhook) {
  const JsonField<std::int64_t> timeout = reader.integer("timeout_ms", timeout_ms_range);
  if (timeout.value && webhook.retry.timeout != Millis{*timeout.value} &&
      has_retry_timeout(reader)) {
    reader.refuse("timeout_ms", "contradicts retry_config.timeout_ms. Send only one of them.");
    return;
  }
  assign_millis(timeout, webhook.retry.timeout, defaults.retry.timeout);
}

/// The values that a tenant's limits can cap.
struct Capped {
  Millis timeout{0};
  std::uint32_t in_flight = 0;
};

Capped capped(const Webhook& webhook) { return {webhook.retry.timeout, webhook.max_in_flight}; }

/// Refuses values above the caps of the tenant. A value that the body does not state, such as a
/// default, is lowered instead. A value from before the cap stays: the cap applies to its attempts.
/// Call after the tenant and the policies have been read.
void apply_caps(ObjectReader& reader, const WebhookCaps& caps, const Capped& before,
                Webhook& webhook) {
  const auto refuse = [&reader](std::string_view field, std::int64_t cap) {
    reader.refuse(field, fmt::format("must be at most {}, the limit of this tenant.", cap));
  };
  const bool states_timeout = reader.raw("timeout_ms").value_or("null") != "null";
  const bool states_in_flight = reader.raw("max_in_flight").value_or("null") != "null";
  if (webhook.retry.timeout > caps.timeout) {
    if (states_timeout || has_retry_timeout(reader)) {
      refuse(states_timeout ? "timeout_ms" : "retry_config.timeout_ms", caps.timeout.count());
    } else if (webhook.retry.timeout != before.timeout) {
      webhook.retry.timeout = caps.timeout;
    }
  }
  if (webhook.max_in_flight > caps.in_flight) {
    if (states_in_flight) {
      refuse("max_in_flight", caps.in_flight);
    } else if (webhook.max_in_flight != before.in_flight) {
      webhook.max_in_flight = caps.in_flight;
    }
  }
}

void read_active(ObjectReader& reader, const Webhook& defaults, Webhook& webhook) {
  assign(reader.boolean("active"), webhook.active, defaults.active);
  if (webhook.active) {
    switch_on(webhook);  // Clears disabled_reason.
  }
}

/// Call after the signature policy has been read, because it reserves some header names.
void check_headers(ObjectReader& reader, const Webhook& webhook) {
  if (forbidden_headers({}, webhook.signature)) {
    return;  // The prefix itself is not allowed, which has been reported.
  }
  bool each_is_allowed = true;
  for (const auto& header : webhook.headers) {
    if (const auto forbidden = forbidden_headers({header}, webhook.signature)) {
      reader.refuse("headers." + header.first, "is not acceptable: " + *forbidden);
      each_is_allowed = false;
    }
  }
  if (const auto forbidden = forbidden_headers(webhook.headers, webhook.signature);
      forbidden && each_is_allowed) {
    reader.refuse("headers", "are not acceptable: " + *forbidden);
  }
}

std::string secret_rule(SignatureScheme scheme) {
  return is_standard(scheme)
             ? fmt::format(
                   "must be `whsec_` followed by base64 of {0} to {1} bytes, or a text of "
                   "{0} to {1} bytes.",
                   secret_bytes_min, secret_bytes_max)
             : fmt::format("must be a text of {} to {} bytes without control characters.",
                           secret_text_bytes_min, secret_text_bytes_max);
}

/// Call after the signature policy has been read. `before` is the scheme of the stored secret.
void read_or_adapt_secret(ObjectReader& reader, SignatureScheme before, Webhook& webhook) {
  const bool has_stored = !webhook.secret.reveal().empty();
  Webhook adapted = webhook;
  const Result<void> fits = has_stored ? adapt_secrets(before, adapted) : Result<void>{};
  if (fits || reader.raw("secret")) {
    webhook.secret = std::move(adapted.secret);
    webhook.old_secrets = std::move(adapted.old_secrets);
    read_secret(reader, webhook);
    return;
  }
  reader.refuse("signature.scheme",
                fmt::format("does not accept the webhook's secret, which {} Send a new `secret` "
                            "as well.",
                            secret_rule(webhook.signature.scheme)));
}

void refuse_server_fields(ObjectReader& reader) {
  for (const std::string_view name : server_fields) {
    if (reader.raw(name)) {
      reader.refuse(name, name == "paused"
                              ? "cannot be set here. Use POST /v1/webhooks/{id}/pause and /resume."
                              : "is set by the server. Omit it.");
    }
  }
}

}  // namespace

void read_secret(ObjectReader& reader, Webhook& webhook) {
  const JsonField<std::string> text = reader.text("secret", {.bytes_max = 512, .multiline = false});
  if (text.is_null()) {
    reader.refuse("secret", "must not be null. Omit it instead.");
  }
  if (!text.value) {
    return;
  }
  const SignatureScheme scheme = webhook.signature.scheme;
  Result<Secret<std::string>> secret = parse_secret(scheme, *text.value);
  if (!secret) {
    reader.refuse("secret", secret_rule(scheme));
    return;
  }
  replace_secret(webhook, *std::move(secret));
}

void read_webhook(ObjectReader& reader, const WebhookRules& rules, Webhook& webhook) {
  const Webhook& defaults = rules.defaults;
  const Capped before = rules.creating ? Capped{} : capped(webhook);
  read_url(reader, rules, webhook);
  read_events(reader, rules, webhook);
  read_filter(reader, webhook);
  read_tenant(reader, rules, webhook);
  assign(reader.text("name", name_rule), webhook.name);
  assign(reader.text("owner_id", name_rule), webhook.owner_id);
  assign(read_email_address(reader, "owner_email"), webhook.owner_email);
  assign(reader.text("resource_id", name_rule), webhook.resource_id);
  assign(reader.text("description", description_rule), webhook.description);
  read_active(reader, defaults, webhook);
  merge_headers(reader, defaults.headers, webhook.headers);
  merge_metadata(reader, defaults.metadata, webhook.metadata);
  assign(reader.choice("payload_format", parse_payload_format,
                       "standard, exchange, platform, workspace, tenant, raw"),
         webhook.payload_format, defaults.payload_format);
  read_payload(reader, defaults, webhook);
  const SignatureScheme scheme_before = webhook.signature.scheme;
  read_policies(reader, rules, webhook);
  read_or_adapt_secret(reader, scheme_before, webhook);
  assign(reader.integer("max_in_flight", in_flight_range), webhook.max_in_flight,
         defaults.max_in_flight);
  assign(reader.choice("ordering_guarantee", parse_ordering, "none, per_event_type, strict"),
         webhook.ordering, defaults.ordering);
  read_timeout(reader, defaults, webhook);
  if (rules.caps_of) {
    apply_caps(reader, rules.caps_of(webhook.tenant_id), before, webhook);
  }
  refuse_server_fields(reader);
  reader.finish();

  check_headers(reader, webhook);
}

}  // namespace postrider::api
