// Keys and tokens as text: made once, shown once, kept as their hash.
#pragma once

#include <string>
#include <string_view>

#include "core/base/secret.h"

namespace postrider::api {

constexpr std::string_view key_prefix = "prk_";
constexpr std::string_view portal_prefix = "prp_";

/// `prefix` and 256 random bits: too many to guess, so a plain hash is enough to keep it.
[[nodiscard]] Secret<std::string> make_key_text(std::string_view prefix);

}  // namespace postrider::api
