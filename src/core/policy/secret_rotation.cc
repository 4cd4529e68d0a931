#include "core/policy/secret_rotation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace postrider {

Result<Webhook> rotate_secret(Webhook webhook, NewSecret secret, WallTime now) {
  POSTRIDER_ASSERT(Millis{0} <= secret.grace && secret.grace <= secret_grace_max);
  if (secret.key == webhook.secret) {
    return fail(Errc::invalid, "The new secret is the same as the webhook's current secret.");
  }
  webhook.old_secrets = live_secrets(webhook, now);
  if (secret.grace == Millis{0}) {
    replace_secret(webhook, std::move(secret.key));
  } else {
    if (webhook.old_secrets.size() >= old_secrets_max) {
      const auto first = std::ranges::min_element(webhook.old_secrets, {}, &OldSecret::ends_at);
      return fail(Errc::conflict,
                  fmt::format("The webhook has {} old secrets, which is the maximum. The first of "
                              "them ends at {}. Until then, only grace_period_seconds 0 is "
                              "accepted.",
                              old_secrets_max, to_rfc3339(first->ends_at)));
    }
    webhook.old_secrets.insert(
        webhook.old_secrets.begin(),
        OldSecret{.key = std::move(webhook.secret), .ends_at = later(now, secret.grace)});
    webhook.secret = std::move(secret.key);
  }
  webhook.secret_set_at = now;
  return webhook;
}

void replace_secret(Webhook& webhook, Secret<std::string> key) {
  if (has_one_signature(webhook.signature.scheme) && key != webhook.secret) {
    webhook.old_secrets.clear();
  }
  webhook.secret = std::move(key);
}

std::vector<OldSecret> live_secrets(const Webhook& webhook, WallTime now) {
  std::vector<OldSecret> live;
  std::ranges::copy_if(webhook.old_secrets, std::back_inserter(live),
                       [now](const OldSecret& old) { return now < old.ends_at; });
  return live;
}

bool has_ended_secrets(const Webhook& webhook, WallTime now) {
  return std::ranges::any_of(webhook.old_secrets,
                             [now](const OldSecret& old) { return old.ends_at <= now; });
}

bool secret_is_old(const Webhook& webhook, WallTime now) {
  return now - webhook.secret_set_at > secret_age_max;
}

}  // namespace postrider
