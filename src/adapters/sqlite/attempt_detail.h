// The part of an attempt that is only looked at when a person opens it, packed into a few bytes.
#pragma once

#include <string>
#include <string_view>

#include "core/attempt.h"
#include "core/result.h"

namespace postrider::sqlite {

/// Appends to `out`: what the columns of the attempt table do not hold.
void pack_detail(const Outcome& outcome, std::string& out);
/// Fills in the same fields. Fails with corrupt.
[[nodiscard]] Result<void> unpack_detail(std::string_view detail, Outcome& outcome);

void pack_headers(const Headers& headers, std::string& out);
[[nodiscard]] Result<Headers> unpack_headers(std::string_view packed);

}  // namespace postrider::sqlite
