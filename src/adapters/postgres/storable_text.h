// Text that PostgreSQL accepts, whatever it is made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace postrider::postgres {

/// Without zero bytes; without bytes above 127 if they are not UTF-8 or the database has another
/// encoding (`is_utf8`). They become question marks.
[[nodiscard]] std::string storable_text(std::string_view text, bool is_utf8);

/// The text form of a text[].
[[nodiscard]] std::string array_text(const std::vector<std::string>& texts);

}  // namespace postrider::postgres
