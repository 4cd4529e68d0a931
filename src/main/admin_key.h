// The first key: given by the operator, or made once and shown once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/secret.h"
#include "core/base/time.h"
#include "ports/registry.h"

namespace postrider {

struct AdminKey {
  std::optional<ApiKey> to_store;              // None: the store has it already.
  std::optional<Secret<std::string>> to_show;  // Only a key that was just made.
};

/// `given`, from the environment, takes the place of the one the environment gave before. Without
/// it a key is made when the store has none.
[[nodiscard]] AdminKey choose_admin_key(const std::optional<Secret<std::string>>& given,
                                        const std::vector<ApiKey>& known, WallTime now);

}  // namespace postrider
