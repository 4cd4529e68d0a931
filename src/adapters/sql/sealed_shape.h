// How a request's shape is stored: packed (core/stored/shape_bytes.h), and encrypted if there is a
// vault, because it contains the webhook's headers.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "ports/vault.h"

namespace postrider::sql {

/// Identifies a shape. Sealed bytes can be opened only under the same ShapeKey.
struct ShapeKey {
  WebhookId webhook_id;
  std::uint32_t number = 0;  // From 1.
};

struct ShapeColumns {
  std::string shape;
  bool sealed = false;
};

/// `vault` may be null.
[[nodiscard]] ShapeColumns to_columns(std::string packed, const ShapeKey& key, const Vault* vault);
/// Returns the packed bytes. Fails with invalid if the encryption key is missing, with corrupt if
/// the bytes are damaged.
[[nodiscard]] Result<std::string> open_columns(const ShapeColumns& columns, const ShapeKey& key,
                                               const Vault* vault);

}  // namespace postrider::sql
