// A request's shape as it is stored: packed, and sealed when there is a vault, because it holds a
// webhook's headers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/request/request_shape.h"
#include "ports/vault.h"

namespace postrider::sqlite {

void pack_shape(const RequestShape& shape, std::string& out);
/// Fails with corrupt.
[[nodiscard]] Result<RequestShape> unpack_shape(std::string_view packed);

/// Which of a webhook's shapes it is. Sealed bytes open in their place only.
struct ShapePlace {
  WebhookId webhook_id;
  std::uint32_t number = 0;  // From 1.
};

struct ShapeColumns {
  std::string shape;
  bool sealed = false;
};

/// `vault` may be null.
[[nodiscard]] ShapeColumns to_columns(std::string packed, const ShapePlace& place,
                                      const Vault* vault);
/// The packed bytes. Fails with invalid when the key is missing, with corrupt when they are
/// damaged.
[[nodiscard]] Result<std::string> open_columns(const ShapeColumns& columns, const ShapePlace& place,
                                               const Vault* vault);

}  // namespace postrider::sqlite
