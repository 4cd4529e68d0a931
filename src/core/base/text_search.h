// Finds a text in another in linear time. std::string_view::find compares the whole needle at each
// position of a text such as `aaaa…`.
#pragma once

#include <cstddef>
#include <string_view>

namespace postrider {

/// The same result as `text.find(needle)`, in time proportional to the sum of the lengths.
[[nodiscard]] std::size_t find_text(std::string_view text, std::string_view needle);

}  // namespace postrider
