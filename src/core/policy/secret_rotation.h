// Replaces a webhook's secret so that its receiver can verify every request: for a grace period
// requests are signed with both the old and the new secret. Pure: the time is an argument.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "core/base/result.h"
#include "core/base/secret.h"
#include "core/base/time.h"
#include "core/model/webhook.h"

namespace postrider {

/// Each old secret adds a signature to every request, and the size of headers is limited.
constexpr std::size_t old_secrets_max = 10;
constexpr Millis secret_grace_default = std::chrono::hours{24};
constexpr Millis secret_grace_max = std::chrono::hours{24 * 7};
/// A secret older than this should be replaced.
constexpr Millis secret_age_max = std::chrono::hours{24 * 90};

struct NewSecret {
  Secret<std::string> key;
  Millis grace = secret_grace_default;  // Zero: the previous secret ends immediately.
};

/// Returns the webhook with the new secret and without old secrets that have ended. Fails with
/// conflict if there would be too many old secrets, with invalid if the secret does not change.
[[nodiscard]] Result<Webhook> rotate_secret(Webhook webhook, NewSecret secret, WallTime now);

/// Replaces the secret without a grace period. Old secrets stay, unless the scheme has room for
/// only one signature, which must be that of the new secret.
void replace_secret(Webhook& webhook, Secret<std::string> key);

/// The old secrets that are still used at `now`, newest first.
[[nodiscard]] std::vector<OldSecret> live_secrets(const Webhook& webhook, WallTime now);

/// True if an old secret has ended and can be removed.
[[nodiscard]] bool has_ended_secrets(const Webhook& webhook, WallTime now);

[[nodiscard]] bool secret_is_old(const Webhook& webhook, WallTime now);

}  // namespace postrider
