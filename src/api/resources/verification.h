// Does the one who answers at a URL want our webhooks? A challenge is sent to it, signed like any
// event and through the same guards, and its answer must repeat the challenge.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/model/webhook.h"

#include "api/json/field_reader.h"
#include "api/resources/context.h"

namespace postrider::api {

constexpr Millis verification_timeout{5'000};
constexpr std::string_view verification_type = "postrider.verification";

/// What a body says about verification.
struct VerificationRequest {
  bool verify = false;   // `verify_url`
  bool require = false;  // `require_verification`: refuse instead of switching off.
};

[[nodiscard]] VerificationRequest read_verification_request(ObjectReader& reader);

/// nullopt: verified. Otherwise a sentence that says what was wrong with the answer.
[[nodiscard]] std::optional<std::string> verification_fault(const Outcome& outcome,
                                                            std::string_view challenge);

/// Sends the challenge. The sentence as above; an error when it could not be sent at all.
[[nodiscard]] Awaitable<Result<std::optional<std::string>>> verify(Context context,
                                                                   Webhook webhook);

[[nodiscard]] Problem verification_failed(std::string detail);

}  // namespace postrider::api
