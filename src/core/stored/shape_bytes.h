// The stored form of a request's shape: the bytes of one column.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/request/request_shape.h"

namespace postrider::stored {

void pack_shape(const RequestShape& shape, std::string& out);
/// Fails with corrupt.
[[nodiscard]] Result<RequestShape> unpack_shape(std::string_view packed);

}  // namespace postrider::stored
