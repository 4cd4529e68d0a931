// The part of an attempt that is only looked at when a person opens it, packed into a few bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/attempt.h"

namespace postrider::sqlite {

/// Appends to `out`: what the columns of the attempt table do not hold, and the number of the
/// request's shape; zero is none.
void pack_detail(const Outcome& outcome, std::uint32_t shape, std::string& out);
/// Fills in the same fields. Fails with corrupt.
[[nodiscard]] Result<void> unpack_detail(std::string_view detail, Outcome& outcome);
/// The shape's number alone. Fails with corrupt.
[[nodiscard]] Result<std::uint32_t> unpack_shape_number(std::string_view detail);

void pack_headers(const Headers& headers, std::string& out);
[[nodiscard]] Result<Headers> unpack_headers(std::string_view packed);

}  // namespace postrider::sqlite
