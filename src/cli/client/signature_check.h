// Verifies the signature of a received webhook. Recognizes the scheme by its header.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/secret.h"
#include "core/base/time.h"
#include "core/request/signature.h"
#include "ports/crypto.h"

#include "api/http/http.h"

namespace postrider::cli {

enum class SignatureVerdict : std::uint8_t {
  unchecked,  // No secret was given.
  valid,
  missing,  // No header holds a signature.
  wrong,    // The signature matches none of the secrets.
  stale,    // Valid, but the timestamp is outside the tolerance.
};

[[nodiscard]] std::string_view to_string(SignatureVerdict verdict);

struct SignatureFinding {
  SignatureVerdict verdict = SignatureVerdict::unchecked;
  std::string scheme;  // Set if the verdict is valid or stale.
};

struct SignatureRules {
  std::vector<Secret<std::string>> secrets;  // As the server showed them. Each is tried.
  std::chrono::seconds tolerance{300};
};

/// Does not check the time with sha256-body, which does not sign it.
[[nodiscard]] SignatureFinding check_signature(const api::HttpRequest& request,
                                               const SignatureRules& rules, const Crypto& crypto,
                                               WallTime now);

}  // namespace postrider::cli
