// The details of an attempt that only the view of a single attempt reads, packed into a few bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/model/attempt.h"

namespace postrider::stored {

/// Appends to `out` the fields that have no column in the attempt table, and the number of the
/// request's shape (zero: none).
void pack_detail(const Outcome& outcome, std::uint32_t shape, std::string& out);
/// Reads the same fields. Fails with corrupt.
[[nodiscard]] Result<void> unpack_detail(std::string_view detail, Outcome& outcome);
/// Reads only the error message. Fails with corrupt.
[[nodiscard]] Result<std::string> unpack_error_message(std::string_view detail);
/// Reads only the shape's number. Fails with corrupt.
[[nodiscard]] Result<std::uint32_t> unpack_shape_number(std::string_view detail);

void pack_headers(const Headers& headers, std::string& out);
[[nodiscard]] Result<Headers> unpack_headers(std::string_view packed);

}  // namespace postrider::stored
