// Other defaults of new webhooks.
#include "core/net/header_rules.h"

#include "config/settings.h"

namespace postrider::config {
namespace {

bool is_prefix(const std::string& prefix) {
  return !forbidden_headers({}, {.header_prefix = prefix});
}

void add_signature(std::vector<Setting>& all) {
  all.push_back(choice({"webhooks.signature.scheme",
                        "The signature scheme: what is signed, and the format of the signature."},
                       POSTRIDER_FIELD(webhooks.defaults.signature.scheme),
                       Words{std::string{"standard, standard-ed25519, t-v1, sha256-timestamp, "
                                         "sha256-body"},
                             parse_signature_scheme}));
  all.push_back(text({"webhooks.signature.header_prefix",
                      "The prefix of the second set of headers, including the signature header."},
                     POSTRIDER_FIELD(webhooks.defaults.signature.header_prefix),
                     {"must be 1 to 64 characters that header names allow, and must not begin like "
                      "a standard header",
                      is_prefix}));
  all.push_back(boolean({"webhooks.signature.standard_headers",
                         "Send webhook-id, webhook-timestamp and, with a standard scheme, "
                         "webhook-signature."},
                        POSTRIDER_FIELD(webhooks.defaults.signature.standard_headers)));
  all.push_back(boolean({"webhooks.signature.prefixed_headers",
                         "Send the second set of headers, which have the prefix."},
                        POSTRIDER_FIELD(webhooks.defaults.signature.prefixed_headers)));
  all.push_back(choice(
      {"webhooks.signature.header_set",
       "The headers in the second set. platform: ID (the webhook's), Event, "
       "Delivery, Attempt, Timestamp and X-Idempotency-Key. exchange: Id (the "
       "event's), Timestamp, Attempt. outbox: Id (the event's, or of the row or message "
       "that it was taken from), Timestamp. workspace: Event-ID. tenant: Event, Delivery-ID."},
      POSTRIDER_FIELD(webhooks.defaults.signature.header_set),
      Words{std::string{"platform, exchange, outbox, workspace, tenant"}, parse_header_set}));
  all.push_back(integer({"webhooks.signature.secret_length",
                         "The number of hexadecimal digits of a generated secret, for the schemes "
                         "t-v1, sha256-timestamp and sha256-body. The secrets of the standard "
                         "schemes have 32 random bytes."},
                        POSTRIDER_FIELD(webhooks.secret_text_length),
                        {secret_text_length_min, secret_text_bytes_max}));
}

}  // namespace

std::vector<Setting> webhook_settings() {
  std::vector<Setting> all;
  all.push_back(integer({"webhooks.max_in_flight", "The most concurrent requests to one webhook."},
                        POSTRIDER_FIELD(webhooks.defaults.max_in_flight), {1, 1'000}));
  all.push_back(choice({"webhooks.ordering_guarantee",
                        "none: as fast as possible. per_event_type: in order within a type. "
                        "strict: one at a time, in order."},
                       POSTRIDER_FIELD(webhooks.defaults.ordering),
                       Words{std::string{"none, per_event_type, strict"}, parse_ordering}));
  all.push_back(choice({"webhooks.payload_format", "The format of the request body."},
                       POSTRIDER_FIELD(webhooks.defaults.payload_format),
                       Words{std::string{"standard, exchange, platform, workspace, tenant, raw"},
                             parse_payload_format}));
  all.push_back(integer(
      {"webhooks.disable_after_ms",
       "A webhook is disabled when all its deliveries have failed for this long; 0: never."},
      POSTRIDER_FIELD(webhooks.disable_after), {0, 31'536'000'000}));
  all.push_back(boolean({"webhooks.require_verification",
                         "Store a new webhook or a changed URL only after the URL has echoed a "
                         "challenge, as with `require_verification` in the request."},
                        POSTRIDER_FIELD(webhooks.require_verification)));
  add_rate(all, {"webhooks.rate_limit.", "Deliveries to one webhook"},
           POSTRIDER_FIELD(webhooks.rate), true);
  add_signature(all);
  all.push_back(choice({"webhooks.payload.form",
                        "How the request body is serialised. verbatim: the event's data byte for "
                        "byte. compact: as JSON.stringify of JavaScript writes it. sorted: as "
                        "json.dumps of Python with sort_keys=True writes it."},
                       POSTRIDER_FIELD(webhooks.defaults.payload_form),
                       Words{std::string{"verbatim, compact, sorted"}, parse_payload_form}));
  for (Setting& setting : all) {
    setting.reloads =
        setting.key != "webhooks.disable_after_ms";  // Belongs to the lanes, not to a webhook.
  }
  return all;
}

}  // namespace postrider::config
