// Is this webhook from whoever knows the secret? Recognises every scheme by its header.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/secret.h"
#include "core/base/time.h"
#include "core/request/signature.h"

#include "api/http/http.h"

namespace postrider::cli {

enum class SignatureVerdict : std::uint8_t {
  unchecked,  // No secret was given.
  valid,
  missing,  // No header holds a signature.
  wrong,    // There is one, but none of the secrets made it.
  stale,    // Right, but its time is too far from ours: perhaps a replay.
};

[[nodiscard]] std::string_view to_string(SignatureVerdict verdict);

struct SignatureFinding {
  SignatureVerdict verdict = SignatureVerdict::unchecked;
  std::string scheme;  // When the verdict is valid or stale.
};

struct SignatureRules {
  std::vector<Secret<std::string>> secrets;  // Tried in turn.
  std::chrono::seconds tolerance{300};
};

/// The time of sha256-body is not signed and therefore not judged.
[[nodiscard]] SignatureFinding check_signature(const api::HttpRequest& request,
                                               const SignatureRules& rules, WallTime now);

}  // namespace postrider::cli
