// The text of API keys, sessions and link tokens. It is shown once; only its hash is stored.
#pragma once

#include <string>
#include <string_view>

#include "core/base/secret.h"
#include "ports/crypto.h"

namespace postrider::api {

constexpr std::string_view key_prefix = "prk_";
constexpr std::string_view portal_prefix = "prp_";
constexpr std::string_view sign_in_prefix = "pri_";
constexpr std::string_view session_prefix = "prs_";

/// Returns `prefix` and 256 random bits: too many to guess, so a plain hash of it may be stored.
[[nodiscard]] Secret<std::string> make_key_text(const Crypto& crypto, std::string_view prefix);

/// Whether make_key_text could have returned it.
[[nodiscard]] bool is_key_text(std::string_view text, std::string_view prefix);

}  // namespace postrider::api
