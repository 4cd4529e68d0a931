// Verifies that the receiver at a URL wants webhooks: it must repeat a challenge, which is signed
// like an event and sent under the same address rules.
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

/// The members of a webhook's body that ask for verification.
struct VerificationRequest {
  bool verify = false;   // `verify_url`
  bool require = false;  // `require_verification`: on failure refuse the change.
};

[[nodiscard]] VerificationRequest read_verification_request(ObjectReader& reader);

/// Returns nullopt if the receiver repeated the challenge, otherwise a sentence that says what was
/// wrong with its answer.
[[nodiscard]] std::optional<std::string> verification_fault(const Outcome& outcome,
                                                            std::string_view challenge);

/// Sends a challenge and returns its verification_fault. Fails if it could not be sent.
[[nodiscard]] Awaitable<Parsed<std::optional<std::string>>> verify(Context context,
                                                                   Webhook webhook);

[[nodiscard]] Problem verification_failed(std::string detail);

}  // namespace postrider::api
