// The webhooks of messages that name their receiver, for applications without subscriptions: one
// per tenant, URL and secret. They subscribe to nothing and get only the events of such messages.
// Their URL is checked as that of any other webhook, and their deliveries have the same limits.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/source/source_record.h"
#include "ports/crypto.h"

#include "api/resources/context.h"

namespace postrider::api {

struct TargetKey {
  TenantId tenant_id;
  std::string url;
  std::string metadata;  // By which the webhook is found; contains a digest of the other two.

  auto operator<=>(const TargetKey&) const = default;
};

/// The webhook shows the digest, so `salt` must not be known to those who may see the webhook.
[[nodiscard]] TargetKey target_key(const Crypto& crypto, const TenantId& tenant_id,
                                   const SourceTarget& target, const std::string& salt);

/// Makes the webhook of a target. Fails with 422 if the URL or the secret is not allowed, or the
/// tenant has too many webhooks.
[[nodiscard]] Awaitable<Parsed<WebhookId>> add_target(Context context, std::string source,
                                                      TargetKey key, SourceTarget target);

/// The webhooks of targets that were seen lately. One thread.
class SourceTargets {
 public:
  /// nullopt if it does not exist, or a user has changed its URL or metadata.
  [[nodiscard]] std::optional<WebhookId> find(const Context& context, const TargetKey& key);
  void remember(const TargetKey& key, WebhookId id);

 private:
  std::map<TargetKey, WebhookId> known_;
};

}  // namespace postrider::api
