#include "api/resources/source_targets.h"

#include <utility>

#include <fmt/format.h>

#include "core/json/json_string.h"
#include "core/request/signature.h"

#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/secret_generator.h"
#include "api/resources/webhook_draft.h"

namespace postrider::api {
namespace {

// A source with more receivers looks them up again.
constexpr std::size_t known_max = 10'000;

bool fits(const Webhook& webhook, const TargetKey& key) {
  return webhook.tenant_id == key.tenant_id && webhook.url == key.url &&
         webhook.metadata == key.metadata;
}

/// The body of a request that would create the webhook.
std::string describe(const std::string& source, const TargetKey& key, const SourceTarget& target) {
  std::string json = "{\"url\":";
  append_json_string(json, key.url);
  json += ",\"name\":";
  append_json_string(json, fmt::format("Rows of {}", source));
  json += ",\"description\":";
  append_json_string(
      json, fmt::format("Gets only the rows of the outbox {} that name this URL.", source));
  json += fmt::format(",\"metadata\":{}", key.metadata);
  if (!key.tenant_id.empty()) {
    json += ",\"tenant_id\":";
    append_json_string(json, key.tenant_id);
  }
  if (target.secret) {
    json += ",\"secret\":";
    append_json_string(json, target.secret->reveal());
  }
  return json + ",\"events\":[\"*\"]}";
}

}  // namespace

TargetKey target_key(const Crypto& crypto, const TenantId& tenant_id, const SourceTarget& target,
                     const std::string& salt) {
  const std::string secret = target.secret ? "secret " + target.secret->reveal() : "generated";
  const std::string digest = to_hex(crypto.sha256(
      fmt::format("source target {} {} {} {}", salt, target.url.size(), target.url, secret)));
  return {.tenant_id = tenant_id,
          .url = target.url,
          .metadata = fmt::format(R"({{"source_target":"{}"}})", digest)};
}

Awaitable<Parsed<WebhookId>> add_target(Context context, std::string source, TargetKey key,
                                        SourceTarget target) {
  const std::string json = describe(source, key, target);
  Result<std::vector<JsonMember>> members = read_json_object(json);
  if (!members) {
    co_return tl::make_unexpected(to_problem(members.error()));
  }
  POSTRIDER_CO_TRY(WebhookDraft draft, draft_new_webhook(context, *std::move(members)));
  Webhook& webhook = draft.webhook;
  webhook.events.clear();
  if (webhook.secret.reveal().empty()) {
    webhook.secret = make_secret(*context.options, webhook.signature.scheme);
  }
  AuditEntry entry = audit_entry(context, {.action = "webhook.create",
                                           .subject = webhook.id.to_string(),
                                           .tenant_id = webhook.tenant_id});
  auto pending =
      context.services.webhooks.add_webhook(std::move(webhook), std::move(entry), std::nullopt);
  const Result<WebhookRef> added = co_await std::move(pending);
  if (!added) {
    Problem problem = to_problem(added.error());
    problem.status = added.error().code == Errc::conflict ? 422 : problem.status;
    co_return tl::make_unexpected(std::move(problem));
  }
  co_return (*added)->id;
}

std::optional<WebhookId> SourceTargets::find(const Context& context, const TargetKey& key) {
  const std::shared_ptr<const Directory> directory = context.services.snapshots.directory();
  if (const auto known = known_.find(key); known != known_.end()) {
    const WebhookRef webhook = directory->find(known->second);
    if (webhook && fits(*webhook, key)) {
      return webhook->id;
    }
  }
  for (const auto& [id, webhook] : directory->all()) {
    if (fits(*webhook, key)) {
      remember(key, id);
      return id;
    }
  }
  return std::nullopt;
}

void SourceTargets::remember(const TargetKey& key, WebhookId id) {
  if (known_.size() >= known_max) {
    known_.clear();
  }
  known_[key] = id;
}

}  // namespace postrider::api
