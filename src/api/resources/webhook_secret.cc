#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "core/policy/secret_rotation.h"
#include "core/request/secret_text.h"

#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/json/query_reader.h"
#include "api/json/webhook_json.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/resources.h"
#include "api/resources/secret_generator.h"

namespace postrider::api {
namespace {

constexpr std::int64_t seconds_of(Millis duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

Parsed<NewSecret> read_rotation(const ApiOptions& options, SignatureScheme scheme,
                                const HttpRequest& request) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_optional_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  Webhook holder;
  holder.signature.scheme = scheme;
  holder.secret = make_secret(options, scheme);
  read_secret(reader, holder);
  const JsonField<std::int64_t> seconds =
      reader.integer("grace_period_seconds", {0, seconds_of(secret_grace_max)});
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return NewSecret{
      .key = std::move(holder.secret),
      .grace = std::chrono::seconds{seconds.value.value_or(seconds_of(secret_grace_default))}};
}

enum class SecretField : std::uint8_t { included, left_out };

/// Not cacheable: it may contain the current secret.
HttpResponse show_secret(const Context& context, const Webhook& webhook, SecretField field) {
  const Crypto& crypto = *context.options->crypto;
  const SignatureScheme scheme = webhook.signature.scheme;
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("webhook_id", webhook.id);
  if (field == SecretField::included) {
    writer.member("secret", format_secret(scheme, webhook.secret));
  }
  writer.member("public_key", public_key(crypto, scheme, webhook.secret));
  writer.member("set_at", webhook.secret_set_at);
  writer.key("old_secrets");
  writer.open_array();
  for (const OldSecret& old : live_secrets(webhook, context.services.clock.now().wall)) {
    writer.open_object();
    writer.member("ends_at", old.ends_at);
    writer.member("public_key", public_key(crypto, scheme, old.key));
    writer.close_object();
  }
  writer.close_array();
  writer.close_object();
  HttpResponse response = json_answer(200, std::move(body));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace

Awaitable<Reply> rotate_webhook_secret(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  const SignatureScheme scheme = webhook->signature.scheme;
  POSTRIDER_CO_TRY(const NewSecret secret, read_rotation(*context.options, scheme, request));
  const WallTime now = context.services.clock.now().wall;
  WebhookEdit edit = [secret, scheme, now](const Webhook& current) -> Result<Webhook> {
    if (current.signature.scheme != scheme) {
      return fail(Errc::conflict,
                  "The webhook's signature scheme was changed at the same time. Try again.");
    }
    POSTRIDER_TRY(Webhook rotated, rotate_secret(current, secret, now));
    rotated.updated_at = std::max(now, current.updated_at);
    return rotated;
  };
  AuditEntry entry = audit_entry(context, {.action = "webhook.secret.rotate",
                                           .subject = webhook->id.to_string(),
                                           .tenant_id = webhook->tenant_id,
                                           .detail = fmt::format(R"({{"grace_period_seconds":{}}})",
                                                                 seconds_of(secret.grace))});
  auto pending = context.services.webhooks.edit_webhook(webhook->id, std::move(edit),
                                                        std::move(entry), context.request_key);
  const Result<WebhookRef> rotated = co_await std::move(pending);
  if (!rotated) {
    co_return tl::make_unexpected(to_problem(rotated.error()));
  }
  co_return show_secret(context, **rotated, SecretField::included);
}

Awaitable<Reply> show_rotation(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  co_return show_secret(context, *webhook, SecretField::left_out);
}

Awaitable<Reply> get_webhook_secret(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  AuditEntry entry = audit_entry(context, {.action = "webhook.secret.read",
                                           .subject = webhook->id.to_string(),
                                           .tenant_id = webhook->tenant_id});
  auto pending = context.services.audited_reads.record_read(std::move(entry));
  const Result<void> noted = co_await std::move(pending);
  if (!noted) {
    co_return tl::make_unexpected(to_problem(noted.error()));
  }
  co_return show_secret(context, *webhook, SecretField::included);
}

Awaitable<Reply> rotate_secrets_key(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_parameters(request));
  if (!context.options->secrets_sealed) {
    co_return tl::make_unexpected(
        conflict("no_secrets_key",
                 "The server has no key to seal secrets with. Start it with "
                 "--secrets-key-file or POSTRIDER_SECRETS_KEY."));
  }
  AuditEntry entry = audit_entry(context, {.action = "secrets.rotate_key", .subject = "secrets"});
  auto pending = context.services.webhooks.reseal_secrets(std::move(entry));
  const Result<std::uint64_t> resealed = co_await std::move(pending);
  if (!resealed) {
    co_return tl::make_unexpected(to_problem(resealed.error()));
  }
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("webhooks_resealed", *resealed);
  writer.close_object();
  co_return json_answer(200, std::move(body));
}

}  // namespace postrider::api
