// The text of API keys and portal tokens. It is shown once; only its hash is stored.
#pragma once

#include <string>
#include <string_view>

#include "core/base/secret.h"
#include "ports/crypto.h"

namespace postrider::api {

constexpr std::string_view key_prefix = "prk_";
constexpr std::string_view portal_prefix = "prp_";

/// Returns `prefix` and 256 random bits: too many to guess, so a plain hash of it may be stored.
[[nodiscard]] Secret<std::string> make_key_text(const Crypto& crypto, std::string_view prefix);

}  // namespace postrider::api
