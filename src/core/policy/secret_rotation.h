// How a webhook's secret is replaced without a moment in which its receiver cannot verify: the old
// one signs beside the new one for a while. Pure: the time is an argument.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "core/base/result.h"
#include "core/base/secret.h"
#include "core/base/time.h"
#include "core/model/webhook.h"

namespace postrider {

/// Each old secret is one more signature in every request, and headers are not endless.
constexpr std::size_t old_secrets_max = 10;
constexpr Millis secret_grace_default = std::chrono::hours{24};
constexpr Millis secret_grace_max = std::chrono::hours{24 * 7};
/// A secret that is older than this should be replaced.
constexpr Millis secret_age_max = std::chrono::hours{24 * 90};

struct NewSecret {
  Secret<std::string> key;
  Millis grace = secret_grace_default;  // Zero: the one before ends at once.
};

/// The webhook with the new secret. Old ones that have ended are dropped. Fails with conflict when
/// the secret before would be one old secret too many, with invalid when nothing would change.
[[nodiscard]] Result<Webhook> rotate_secret(Webhook webhook, NewSecret secret, WallTime now);

/// The old secrets that still sign at `now`, newest first.
[[nodiscard]] std::vector<OldSecret> live_secrets(const Webhook& webhook, WallTime now);

/// Is there an old secret that signs no longer and waits to be swept?
[[nodiscard]] bool has_ended_secrets(const Webhook& webhook, WallTime now);

[[nodiscard]] bool secret_is_old(const Webhook& webhook, WallTime now);

}  // namespace postrider
