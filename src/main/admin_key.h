// The first admin key: given by the operator, or generated at the first start and shown once,
// together with a link that signs a browser in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/secret.h"
#include "core/base/time.h"
#include "ports/registry.h"

namespace postrider {

struct AdminKey {
  std::optional<ApiKey> to_store;                 // None if it is already stored.
  std::optional<Secret<std::string>> to_show;     // Set only for a key that was just generated.
  std::optional<SignInLink> link = std::nullopt;  // With such a key.
  std::optional<Secret<std::string>> link_token = std::nullopt;  // Of the link.
};

/// `given` comes from the environment and replaces the key that came from there before. Without it
/// a key is generated if the store has none.
[[nodiscard]] AdminKey choose_admin_key(const std::optional<Secret<std::string>>& given,
                                        const std::vector<ApiKey>& known, WallTime now);

}  // namespace postrider
