#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "core/policy/secret_rotation.h"
#include "core/request/signature.h"

#include "adapters/openssl/digest.h"
#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/json/query_reader.h"
#include "api/json/webhook_json.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

constexpr std::int64_t seconds_of(Millis duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

Parsed<NewSecret> read_rotation(const HttpRequest& request) {
  Parsed<std::vector<JsonMember>> members = read_optional_body(request);
  if (!members) {
    return tl::make_unexpected(members.error());
  }
  FieldErrors errors;
  ObjectReader reader{*std::move(members), "", errors};
  Webhook holder;
  holder.secret = Secret{random_bytes(secret_bytes_made)};
  read_secret(reader, holder);
  const Given<std::int64_t> seconds =
      reader.integer("grace_period_seconds", {0, seconds_of(secret_grace_max)});
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return NewSecret{
      .key = std::move(holder.secret),
      .grace = std::chrono::seconds{seconds.value.value_or(seconds_of(secret_grace_default))}};
}

enum class Shown : std::uint8_t { with_secret, without_secret };

/// With the current secret in it: for the eyes of whoever asked, and for no cache.
HttpResponse show_secret(const Webhook& webhook, WallTime now, Shown shown = Shown::with_secret) {
  const SignatureScheme scheme = webhook.signature.scheme;
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("webhook_id", webhook.id);
  if (shown == Shown::with_secret) {
    writer.member("secret", format_secret(webhook.secret));
  }
  writer.member("public_key", public_key(scheme, webhook.secret));
  writer.member("set_at", webhook.secret_set_at);
  writer.key("old_secrets");
  writer.open_array();
  for (const OldSecret& old : live_secrets(webhook, now)) {
    writer.open_object();
    writer.member("ends_at", old.ends_at);
    writer.member("public_key", public_key(scheme, old.key));
    writer.close_object();
  }
  writer.close_array();
  writer.close_object();
  HttpResponse response = json_answer(200, std::move(body));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace

Awaitable<HttpResponse> rotate_webhook_secret(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const Parsed<WebhookRef> webhook = path_webhook(context, request);
  if (!webhook) {
    co_return render(webhook.error());
  }
  const Parsed<NewSecret> secret = read_rotation(request);
  if (!secret) {
    co_return render(secret.error());
  }
  const WallTime now = context.service->now().wall;
  Service::WebhookEdit edit = [secret = *secret, now](const Webhook& current) -> Result<Webhook> {
    POSTRIDER_TRY(Webhook rotated, rotate_secret(current, secret, now));
    rotated.updated_at = std::max(now, current.updated_at);
    return rotated;
  };
  AuditEntry entry = audit_entry(context, {.action = "webhook.secret.rotate",
                                           .subject = (*webhook)->id.to_string(),
                                           .tenant_id = (*webhook)->tenant_id,
                                           .detail = fmt::format(R"({{"grace_period_seconds":{}}})",
                                                                 seconds_of(secret->grace))});
  auto pending = context.service->edit_webhook((*webhook)->id, std::move(edit), std::move(entry));
  const Result<WebhookRef> rotated = co_await std::move(pending);
  if (!rotated) {
    co_return render(to_problem(rotated.error()));
  }
  co_return show_secret(**rotated, now);
}

Awaitable<HttpResponse> show_rotation(Context context, HttpRequest request) {
  const Parsed<WebhookRef> webhook = path_webhook(context, request);
  if (!webhook) {
    co_return render(webhook.error());
  }
  co_return show_secret(**webhook, context.service->now().wall, Shown::without_secret);
}

Awaitable<HttpResponse> get_webhook_secret(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = query_problem(request)) {
    co_return render(*problem);
  }
  const Parsed<WebhookRef> webhook = path_webhook(context, request);
  if (!webhook) {
    co_return render(webhook.error());
  }
  AuditEntry entry = audit_entry(context, {.action = "webhook.secret.read",
                                           .subject = (*webhook)->id.to_string(),
                                           .tenant_id = (*webhook)->tenant_id});
  auto pending = context.service->note(std::move(entry));
  const Result<void> noted = co_await std::move(pending);
  if (!noted) {
    co_return render(to_problem(noted.error()));
  }
  co_return show_secret(**webhook, context.service->now().wall);
}

Awaitable<HttpResponse> rotate_secrets_key(Context context, HttpRequest request) {
  if (const std::optional<Problem> problem = parameter_problem(request)) {
    co_return render(*problem);
  }
  if (!context.options->secrets_sealed) {
    co_return render(conflict("no_secrets_key",
                              "The server has no key to seal secrets with; start it with "
                              "--secrets-key-file or POSTRIDER_SECRETS_KEY."));
  }
  AuditEntry entry = audit_entry(context, {.action = "secrets.rotate_key", .subject = "secrets"});
  auto pending = context.service->reseal_secrets(std::move(entry));
  const Result<std::uint64_t> resealed = co_await std::move(pending);
  if (!resealed) {
    co_return render(to_problem(resealed.error()));
  }
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("webhooks_resealed", *resealed);
  writer.close_object();
  co_return json_answer(200, std::move(body));
}

}  // namespace postrider::api
